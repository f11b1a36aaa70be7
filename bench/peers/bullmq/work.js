// Works on the jobs: an HTTP push each, on connections that are kept.

import http from "node:http";
import { Worker } from "bullmq";

const connection = { host: "127.0.0.1", port: Number(process.env.PEER_REDIS_PORT), maxRetriesPerRequest: null };
const concurrency = 100;
const agent = new http.Agent({ keepAlive: true, maxSockets: concurrency });
const url = new URL(process.env.PEER_URL);

function post(identity, body) {
  return new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      "idempotency-key": identity,
    };
    const request = http.request(url, { method: "POST", agent, headers, timeout: 15000 }, (response) => {
      response.resume();
      response.on("end", () => (response.statusCode === 200 ? resolve() : reject(new Error(response.statusCode))));
    });
    request.on("error", reject);
    request.on("timeout", () => request.destroy(new Error("timeout")));
    request.end(body);
  });
}

const push = async ({ data: { uid, day } }) => {
  const identity = `nightly.${day}.${uid}`;
  const steps = 1000 + (uid * 7919) % 20000;
  const body = JSON.stringify({
    id: identity,
    campaign: "nightly",
    day,
    uid: String(uid),
    device: String(uid).padStart(163, "0"),
    language: "en",
    title: `${steps} steps today`,
    body: `You walked ${steps} steps today. See where you stand among your friends.`,
    steps,
  });
  await post(identity, body);
};

const worker = new Worker("peer", push, { connection, concurrency });
worker.on("error", (error) => console.error(error));
