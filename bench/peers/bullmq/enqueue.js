// Enqueues one job for each of the users 1 to N, a thousand a call, and prints how many seconds that took.

import { Queue } from "bullmq";

const users = Number(process.argv[2]);
const connection = { host: "127.0.0.1", port: Number(process.env.PEER_REDIS_PORT) };
const queue = new Queue("peer", { connection });
await queue.waitUntilReady();
// as much in flight as keeps the client and the server both at work
const most = 1000;
const begun = performance.now();
let before = Promise.resolve();
for (let from = 1; from <= users; from += most) {
  const jobs = [];
  for (let uid = from; uid < from + most && uid <= users; uid += 1) {
    const identity = `nightly.20260607.${uid}`;
    // a job's id, kept when it is done, keeps the same push from being enqueued twice
    jobs.push({ name: "push", data: { uid, day: "20260607" }, opts: { jobId: identity } });
  }
  const now = queue.addBulk(jobs);
  await before;
  before = now;
}
await before;
console.log((performance.now() - begun) / 1000);
await queue.close();
