import { fileURLToPath } from 'node:url';
import { ASSETS } from '../test/registry.ts';
import { call } from './calls.ts';
import { describeOthers } from './contest.ts';
import { type Figure, type Measurement, quantile, round } from './figures.ts';
import { startPayingChain } from './paying-chain.ts';
import { type PayingGateway, startPayingGateway } from './paying-gateway.ts';
import { createPayers } from './paying-payers.ts';
import { freePort, startProcess, stopProcess, until } from './processes.ts';
import { shareDuring } from './quiet.ts';

/** Local chains with the ids of these networks, each with a dollar at its usual address. */
const CHAIN_IDS = [8453, 10, 42161] as const;
const ACCOUNTS = 10;
const DELAY_MS = 50;
const WARM_UPS = 20;
const PROXY = fileURLToPath(new URL('./options-proxy-server.ts', import.meta.url));

/** A payer's waiting time for the payment options, with distant chains. */
export const optionsMeasurement: Measurement = {
  names: ['options'],
  measure: async () => [await measureOptions(300)],
};

export async function measureOptions(requests: number): Promise<Figure> {
  const chains = await Promise.all(CHAIN_IDS.map((chainId) => startPayingChain({ chainId, blockMs: 1_000 })));
  const payers = await createPayers('looking', ACCOUNTS);
  const dollars = CHAIN_IDS.map(dollarOn);
  await Promise.all(
    chains.map(async (chain, index) => {
      const token = dollars[index] ?? '';
      await chain.placeToken(token);
      await chain.fund(
        token,
        payers.map(({ address }) => address),
        1_000_000_000n,
      );
    }),
  );
  const proxies = await startProxies(chains.map(({ rpcUrl }) => rpcUrl));
  const [first] = CHAIN_IDS;
  const shop = `eip155:${first}:${payers[0]?.address}`;
  const gateway = await startPayingGateway({
    mode: 'live',
    rpcUrls: Object.fromEntries(CHAIN_IDS.map((id, index) => [`eip155:${id}`, [proxies.urls[index] ?? '']])),
    destinations: [{ asset: `eip155:${first}/erc20:${dollars[0]}`, destination: shop }],
  });
  try {
    const accounts = payers.map(({ address }, index) => `eip155:${CHAIN_IDS[index % CHAIN_IDS.length]}:${address}`);
    const ask = await asker(gateway, accounts);
    const { result, others } = await shareDuring(async () => {
      const trip: number[] = [];
      const took: number[] = [];
      for (let done = 0; done < WARM_UPS + requests; done += 1) {
        trip.push(await oneTrip(proxies.urls[done % proxies.urls.length] ?? ''));
        took.push(await ask());
      }
      return { trip: trip.slice(WARM_UPS), took: took.slice(WARM_UPS) };
    });
    const tripMs = quantile(result.trip, 0.5);
    const p95Ms = quantile(result.took, 0.95);
    return {
      name: 'options',
      value: round(p95Ms / tripMs, 2),
      target: { atMost: 1.5 },
      unit: 'x',
      detail: {
        'options, p50, p95, p99 in ms': [0.5, 0.95, 0.99].map((share) => round(quantile(result.took, share), 1)),
        'one round trip to a chain, p50, p95 in ms': [round(tripMs, 1), round(quantile(result.trip, 0.95), 1)],
        'accounts, networks': [ACCOUNTS, CHAIN_IDS.length],
        ...describeOthers([others]),
      },
    };
  } finally {
    await gateway.stop();
    await proxies.stop();
    await Promise.all(chains.map((chain) => chain.stop()));
  }
}

/** The network's USDC; the local chain gets a copy of it. */
function dollarOn(chainId: number): string {
  const asset = ASSETS.find(({ id, symbol }) => symbol === 'USDC' && id.startsWith(`eip155:${chainId}/erc20:`));
  if (asset === undefined) throw new Error(`There is no USDC on ${chainId}.`);
  return asset.id.split('erc20:')[1] ?? '';
}

/** Asks for the options of one payment, and checks that every account gets one. */
async function asker({ port, apiKey, merchants }: PayingGateway, accounts: readonly string[]) {
  const headers = { 'Api-Key': apiKey, 'Merchant-Id': merchants[0] ?? '', 'Content-Type': 'application/json' };
  const order = { amount: { unit: 'iso4217/USD', value: '1000' }, referenceId: 'BENCH' };
  const created = await call({ port, method: 'POST', path: '/v1/payments', headers, body: JSON.stringify(order) });
  const { paymentId } = JSON.parse(created.text) as { paymentId: string };
  const path = `/v1/gateway/payment/${paymentId}/options?includePaymentInfo=true`;
  const gatewayHeaders = { 'Api-Key': apiKey, 'Content-Type': 'application/json' };
  const ask = () => call({ port, method: 'POST', path, headers: gatewayHeaders, body: JSON.stringify({ accounts }) });
  const offered = async () => (JSON.parse((await ask()).text) as { options: unknown[] }).options.length;
  await until('every account has an option', async () => ((await offered()) === accounts.length ? true : undefined), {
    withinMs: 30_000,
    everyMs: 500,
  });
  return async () => {
    const { text, ms } = await ask();
    const { options } = JSON.parse(text) as { options: unknown[] };
    if (options.length !== accounts.length)
      throw new Error(`${options.length} options for ${accounts.length} accounts.`);
    return ms;
  };
}

async function startProxies(targetUrls: readonly string[]) {
  const targets = await Promise.all(targetUrls.map(async (targetUrl) => ({ targetUrl, port: await freePort() })));
  const child = startProcess([PROXY], { DELAY_MS: String(DELAY_MS), TARGETS: JSON.stringify(targets) });
  const urls = targets.map(({ port }) => `http://127.0.0.1:${port}`);
  for (const url of urls) {
    await until('the proxy is up', () => oneTrip(url).catch(() => undefined), { withinMs: 20_000 });
  }
  return { urls, stop: () => stopProcess(child) };
}

async function oneTrip(url: string): Promise<number> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  const headers = { 'Content-Type': 'application/json' };
  return (await call({ port: Number(new URL(url).port), method: 'POST', path: '/', headers, body })).ms;
}
