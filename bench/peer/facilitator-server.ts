import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as Viem from 'viem';
import type * as ViemAccounts from 'viem/accounts';

/**
 * The reference facilitator in a separate process, wired as in its own example, with viem's nonce manager. One request
 * verifies, which simulates, and settles, which waits for one confirmation.
 */
const settings = {
  folder: process.env.PEER_FOLDER ?? '',
  port: Number(process.env.PORT),
  rpcUrl: process.env.RPC_URL ?? '',
  chainId: Number(process.env.CHAIN_ID),
  key: process.env.RELAYER_KEY as Viem.Hex,
  confirmationTimeoutMs: Number(process.env.CONFIRMATION_TIMEOUT_MS ?? 180_000),
};
/** Often enough for blocks of 200 ms; its default of 4 s would make it look slower than it is. */
const POLL_MS = 50;

/** The used parts of the peer's packages. */
interface Facilitator {
  register(network: string, scheme: unknown): Facilitator;
  verify(payload: unknown, requirements: unknown): Promise<{ isValid: boolean; invalidReason?: string }>;
  settle(payload: unknown, requirements: unknown): Promise<{ success: boolean; transaction: string }>;
}

const load = createRequire(join(settings.folder, 'package.json'));
const viem = load('viem') as typeof Viem;
const accounts = load('viem/accounts') as typeof ViemAccounts;
const { x402Facilitator } = load(`${'@x402'}/core/facilitator`) as { x402Facilitator: new () => Facilitator };
const { ExactEvmScheme } = load(`${'@x402'}/evm/exact/facilitator`) as {
  ExactEvmScheme: new (signer: unknown) => unknown;
};
const { toFacilitatorEvmSigner } = load(`${'@x402'}/evm`) as {
  toFacilitatorEvmSigner: (client: unknown, options: { confirmationTimeoutMs: number }) => unknown;
};

const account = accounts.privateKeyToAccount(settings.key, { nonceManager: viem.nonceManager });
const chain = viem.defineChain({
  id: settings.chainId,
  name: 'Local chain',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [settings.rpcUrl] } },
});
const client = viem
  .createWalletClient({ account, chain, transport: viem.http(settings.rpcUrl), pollingInterval: POLL_MS, cacheTime: 0 })
  .extend(viem.publicActions);
const signer = toFacilitatorEvmSigner(
  { ...client, address: account.address },
  { confirmationTimeoutMs: settings.confirmationTimeoutMs },
);
const facilitator = new x402Facilitator().register(`eip155:${settings.chainId}`, new ExactEvmScheme(signer));

createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (piece: string) => {
    body += piece;
  });
  request.on('end', async () => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(await answerTo(request.url ?? '', body)));
  });
}).listen(settings.port, '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
// It leaves promises unhandled that reject when an endpoint fails, which would end the process.
process.on('unhandledRejection', () => {});

async function answerTo(path: string, body: string): Promise<unknown> {
  if (body === '') return {};
  const { payload, requirements } = JSON.parse(body) as { payload: unknown; requirements: unknown };
  try {
    // A repeated request after an unclear answer only settles: another verification would be refused because of the
    // pending transaction.
    if (path === '/again') return await facilitator.settle(payload, requirements);
    const verdict = await facilitator.verify(payload, requirements);
    return verdict.isValid ? await facilitator.settle(payload, requirements) : verdict;
  } catch {
    return { hasThrown: true };
  }
}
