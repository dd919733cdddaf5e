import { setTimeout as sleep } from 'node:timers/promises';
import { CHECKOUT_APPS } from '../src/actions/parties/open-checkout.ts';
import { describeOthers } from './contest.ts';
import { readCpuUse } from './cpu-use.ts';
import { type Figure, type Measurement, round } from './figures.ts';
import { ASSET, NETWORK, startPayingChain, USDC } from './paying-chain.ts';
import { type PayingGateway, startPayingGateway } from './paying-gateway.ts';
import { createPayers } from './paying-payers.ts';
import { confirm, signPayment, statusOf } from './paying-wallet.ts';
import { type PublicRequest, publicRequestsOf } from './public-request-list.ts';
import { shareDuring } from './quiet.ts';

const WARM_UPS = 30;
const REQUESTS = 200;
const IDLE_MS = 5_000;
/** Parts of names, separated by commas: only these requests. */
const WANTED = process.env.PUBLIC_REQUESTS?.split(',') ?? [''];
const HOLD_MS = 20_000;

/** Processor time of one request that anybody may send, of the kinds that cost most. */
export const publicRequestsMeasurement: Measurement = {
  names: ['public_requests'],
  measure: async () => [await measurePublicRequests()],
};

async function measurePublicRequests(): Promise<Figure> {
  const chain = await startPayingChain({ blockMs: 1_000 });
  const [payer, shop] = await createPayers('public requests', 2);
  if (payer === undefined || shop === undefined) throw new Error('There are no accounts.');
  await chain.fund(USDC, [payer.address], 1_000_000_000n);
  const gateway = await startPayingGateway({
    rpcUrls: { [NETWORK]: [chain.rpcUrl] },
    destinations: [{ asset: ASSET, destination: `${NETWORK}:${shop.address}` }],
    settings: { TRUST_PROXY: '127.0.0.1' },
  });
  try {
    const merchant = gateway.merchants[0] ?? '';
    const signed = await signPayment(gateway, { payer, merchant, asset: ASSET, price: '100' });
    let { isFinal } = await confirm(gateway, signed, HOLD_MS);
    while (!isFinal) ({ isFinal } = await statusOf(gateway, signed, HOLD_MS));
    const open = await signPayment(gateway, { payer, merchant, asset: ASSET, price: '100' });
    const all = await publicRequestsOf(gateway, { paid: signed, open, asset: ASSET });
    const requests = all.filter(({ name }) => WANTED.some((part) => name.includes(part)));
    const { result, others } = await shareDuring(async () => {
      const before = await idleMsPerS(gateway);
      const costs: Cost[] = [];
      for (const request of requests) costs.push(await costOf(gateway, request));
      const idle = (before + (await idleMsPerS(gateway))) / 2;
      return { idle, costs: costs.map((cost) => ({ ...cost, ms: Math.max(0, cost.ms - idle * cost.tookS) })) };
    });
    const costs = result.costs.toSorted((one, other) => other.ms - one.ms);
    const [dearest] = costs.filter(({ rarely }) => rarely === undefined);
    return {
      name: 'public_requests',
      value: round(dearest?.ms ?? Number.NaN, 2),
      target: { atMost: 4 },
      unit: 'ms',
      detail: {
        ...Object.fromEntries(costs.map(({ name, rarely, ms }) => [nameOf(name, rarely), round(ms, 2)])),
        'ms a second without requests, subtracted': round(result.idle, 1),
        ...describeOthers([others]),
      },
    };
  } finally {
    await gateway.stop();
    await chain.stop();
  }
}

let sent = 0;

/** Every request comes from another address, so that no limit of addresses answers in its place. */
async function send({ port }: PayingGateway, request: PublicRequest): Promise<number> {
  const { method = 'GET', path, body, type = 'application/json', accept = '*/*' } = request;
  sent += 1;
  const headers = {
    'App-Id': CHECKOUT_APPS.test,
    'Client-Id': 'bench',
    Accept: accept,
    'X-Forwarded-For': `10.${(sent >> 16) & 255}.${(sent >> 8) & 255}.${sent & 255}`,
    ...(body !== undefined && { 'Content-Type': type }),
    ...request.headers,
  };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers,
    redirect: 'manual',
    ...(body !== undefined && { body }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

interface Cost {
  readonly name: string;
  readonly rarely: string | undefined;
  /** Of one request, with the work that the node does anyway. */
  readonly ms: number;
  /** The time of one request on the clock. */
  readonly tookS: number;
}

function nameOf(name: string, rarely: string | undefined): string {
  return rarely === undefined ? name : `${name} [${rarely}]`;
}

/** Processor time grows when others use the machine, so a cost is an upper bound there. */
async function costOf(gateway: PayingGateway, request: PublicRequest): Promise<Cost> {
  const { name, rarely, further } = request;
  const paths = further ?? Array.from({ length: REQUESTS }, () => request.path);
  let status = 0;
  for (let done = 0; done < (further === undefined ? WARM_UPS : 1); done += 1) status = await send(gateway, request);
  const before = await usedMs(gateway);
  const begun = performance.now();
  for (const path of paths) status = await send(gateway, { ...request, path });
  const tookS = (performance.now() - begun) / 1000 / paths.length;
  const ms = ((await usedMs(gateway)) - before) / paths.length;
  return { name: `${name} (${status})`, rarely, ms, tookS };
}

async function usedMs({ pid }: PayingGateway): Promise<number> {
  return (await readCpuUse(pid)).ownMs;
}

/** Processor time that the node uses for watchers and jobs. */
async function idleMsPerS(gateway: PayingGateway): Promise<number> {
  const before = await usedMs(gateway);
  const begun = performance.now();
  await sleep(IDLE_MS);
  return (((await usedMs(gateway)) - before) * 1000) / (performance.now() - begun);
}
