# stepcast in a small image: the release binary on Debian slim, as a user of its own.
#
#   docker build -t stepcast .
#
# RUN lines are plain shell and COPY lines plain paths: tests/run --long reads them here and runs them in a Debian root.

FROM rust:1.95-slim-bookworm AS build
# the C compiler is for the cryptographic library
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc libc6-dev make perl \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN cargo build --release --locked --bin stepcast

FROM debian:bookworm-slim
# certificates, for providers and servers that are reached by TLS
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/*
RUN groupadd --gid 10001 stepcast \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/stepcast --shell /usr/sbin/nologin stepcast \
    && install -d -o stepcast -g stepcast -m 0700 /var/lib/stepcast
COPY --from=build /src/target/release/stepcast /usr/local/bin/stepcast
ENV STEPCAST_DATA=/var/lib/stepcast
WORKDIR /var/lib/stepcast
USER 10001:10001
ENTRYPOINT ["stepcast"]
# all in one on one file; docker-compose.yml has the many processes
CMD ["run"]
