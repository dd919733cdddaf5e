import { createServer } from 'node:http';
import { encodeAbiParameters, encodeFunctionData, type Hex, keccak256, parseAbi } from 'viem';
import { placeDollar, SANDBOX_TOKENS } from '../src/sandbox/genesis.ts';
import { createSandboxEvm } from '../src/sandbox/sandbox-evm.ts';

/** A local chain in a separate process: JSON-RPC at `/`, and the benchmark's controls at the other paths. */
const evm = await createSandboxEvm({
  chainId: Number(process.env.CHAIN_ID),
  mining: { intervalMs: Number(process.env.BLOCK_MS), idleMs: 5_000 },
});

const CONTROLS: Readonly<Record<string, (input: never) => Promise<unknown>>> = {
  '/fund': fund,
  '/place-token': placeToken,
  '/reorg': ({ depth, transactions }: { depth: number; transactions: 'forgotten' | 'kept' }) =>
    evm.reorg(depth, transactions),
  '/mine': ({ count }: { count: number }) => evm.mine(count),
};

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (piece: string) => {
    body += piece;
  });
  request.on('end', async () => {
    try {
      const control = CONTROLS[request.url ?? ''];
      const text =
        control === undefined
          ? await evm.rpc(body)
          : JSON.stringify((await control(JSON.parse(body) as never)) ?? null);
      response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.env.PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));

const BALANCES = parseAbi(['function balanceOf(address) view returns (uint256)']);
const MAX_SLOT = 20;

const slots = new Map<Hex, Promise<number>>();

/**
 * Gives tokens to accounts by writing their balances: thousands of payers take a moment instead of thousands of blocks.
 */
async function fund({ token, accounts, amount }: { token: Hex; accounts: readonly Hex[]; amount: string }) {
  const found = slots.get(token) ?? balanceSlot(token);
  slots.set(token, found);
  const slot = await found;
  for (const account of accounts) await setWord(token, slotOf(account, slot), BigInt(amount));
  // A reorg goes back to a block and would undo the writes since the last one.
  await evm.mine(1);
}

/** The storage slot of the token's balances, found by writing slots and reading the balance. */
async function balanceSlot(token: Hex): Promise<number> {
  const probe: Hex = `0x${'5107'.padStart(40, '0')}`;
  const data = encodeFunctionData({ abi: BALANCES, functionName: 'balanceOf', args: [probe] });
  for (let slot = 0; slot <= MAX_SLOT; slot += 1) {
    await setWord(token, slotOf(probe, slot), 1n);
    const balance = BigInt((await evm.request({ method: 'eth_call', params: [{ to: token, data }, 'latest'] })) as Hex);
    await setWord(token, slotOf(probe, slot), 0n);
    if (balance === 1n) return slot;
  }
  throw new Error('The token keeps its balances elsewhere.');
}

/** Puts the sandbox's dollar at the address of a known network's dollar. */
async function placeToken({ address }: { address: Hex }) {
  const source = SANDBOX_TOKENS.USDC;
  const { code, storage = [] } = placeDollar(address, { name: 'USD Coin', symbol: 'USDC' }).predeploy;
  await evm.request({ method: 'hardhat_setCode', params: [address, code] });
  for (const { slot, value } of storage) await setWord(address, slot, BigInt(value));
  for (let slot = 0; slot <= MAX_SLOT; slot += 1) {
    const word = (await evm.request({ method: 'eth_getStorageAt', params: [source, hexOf(slot), 'latest'] })) as Hex;
    await setWord(address, hexOf(slot), BigInt(word));
  }
}

async function setWord(address: Hex, slot: Hex, value: bigint): Promise<void> {
  const word = `0x${value.toString(16).padStart(64, '0')}`;
  await evm.request({ method: 'hardhat_setStorageAt', params: [address, hexOf(BigInt(slot)), word] });
}

function slotOf(account: Hex, slot: number): Hex {
  return keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [account, BigInt(slot)]));
}

function hexOf(value: number | bigint): Hex {
  return `0x${value.toString(16)}`;
}
