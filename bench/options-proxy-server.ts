import { startRpcProxy } from '../test/rpc-proxy.ts';

/** Endpoints of distant chains: every answer is delayed by a fixed time. */
const delayMs = Number(process.env.DELAY_MS);
const targets = JSON.parse(process.env.TARGETS ?? '[]') as { targetUrl: string; port: number }[];
await Promise.all(targets.map((target) => startRpcProxy({ ...target, delayMs })));
process.on('SIGTERM', () => process.exit(0));
