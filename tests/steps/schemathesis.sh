# The HTTP interface against its own description: whatever is asked, no answer is a fault of the server, and none is outside of
# what /openapi.json says.
#
#   bash tests/steps/schemathesis.sh URL KEY FOLDER      FOLDER: where the tool is installed, kept between runs
#
# Schemathesis comes from PyPI, in a version that is named here.

version=4.32.5

has_schemathesis() {
    local folder=$1
    [[ -x $folder/bin/schemathesis && $("$folder/bin/schemathesis" --version) == *" $version" ]] && return
    if python3 -m venv "$folder" && "$folder/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version"; then
        return
    fi
    echo "skipped: schemathesis (Python with venv, and PyPI, are wanted)"
    exit 0
}

has_schemathesis "$3"
# deterministic, so that what is found today is found tomorrow; what is tried are single requests of every kind
exec "$3/bin/schemathesis" run "$1/openapi.json" --header "Authorization: Bearer $2" --no-color \
    --phases examples,coverage,fuzzing --mode all --max-examples 60 --generation-deterministic --workers 1 \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance
