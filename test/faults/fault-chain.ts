import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { encodeFunctionData, type Hex, keccak256, maxUint256, parseAbi, stringToBytes } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { PERMIT2_ADDRESS } from '../../src/chains/evm/collector.ts';
import { placeDollar, SANDBOX_KEYS, SANDBOX_TOKENS } from '../../src/sandbox/genesis.ts';
import type { LocalEvm } from '../../src/sandbox/local-evm.ts';
import { createSandboxEvm } from '../../src/sandbox/sandbox-evm.ts';

export type FaultChain = Awaited<ReturnType<typeof startFaultChain>>;
export type Payer = PrivateKeyAccount;

export const TOKEN_ABI = parseAbi([
  'function balanceOf(address) view returns (uint256)',
  'function mint(address to, uint256 amount)',
  'function approve(address spender, uint256 amount)',
  'function blacklist(address account)',
  'function unBlacklist(address account)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);

/** The balance of every payer in every token: enough for a few payments of ten. */
export const FUNDS = 50_000_000n;
const COIN_FUNDS = 10n ** 19n;
const GAS = 1_000_000n;
const FEES = { maxFeePerGas: 500_000_000_000n, maxPriorityFeePerGas: 2_000_000_000n };

export interface Call {
  readonly to?: Hex;
  readonly data?: Hex;
  readonly value?: bigint;
}

/** A real EVM in this process that mines on request, reached over HTTP, with funded payers. */
export async function startFaultChain(
  input: { chainId?: number; payers?: number; token?: { address: Hex; name: string } } = {},
) {
  const { chainId = 31_337, payers: payerCount = 12, token } = input;
  // Many blocks a second must not make the chain's clock run ahead of the node's.
  const evm = await createSandboxEvm({ chainId, mining: 'manual', sharesSeconds: true });
  const server = createServer(async (request, response) => {
    const body = await text(request);
    response.setHeader('content-type', 'application/json').end(await evm.rpc(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const request = <T = Hex>(method: string, ...params: unknown[]) => evm.request({ method, params }) as Promise<T>;
  const minter = privateKeyToAccount(SANDBOX_KEYS.minter);

  /** It stays pending until the next block. */
  async function send(from: Payer, call: Call, fees = FEES, gas = GAS): Promise<Hex> {
    const nonce = Number(await request('eth_getTransactionCount', from.address, 'pending'));
    return request(
      'eth_sendRawTransaction',
      await from.signTransaction({ type: 'eip1559', chainId, nonce, gas, ...fees, ...call }),
    );
  }

  /** Mined and successful. */
  async function carryOut(from: Payer, call: Call, gas = GAS): Promise<Hex> {
    const hash = await send(from, call, FEES, gas);
    await evm.mine();
    const receipt = await request<{ status: Hex } | null>('eth_getTransactionReceipt', hash);
    if (receipt?.status !== '0x1') throw new Error('A transaction of the test failed.');
    return hash;
  }

  /** A dollar at the address of another network's dollar, with that token's domain name. */
  async function placeToken({ address, name }: { address: Hex; name: string }): Promise<void> {
    const { predeploy, initialize } = placeDollar(address, { name, symbol: 'USDC' });
    await request('hardhat_setCode', address, predeploy.code);
    for (const { slot, value } of predeploy.storage ?? []) await request('hardhat_setStorageAt', address, slot, value);
    await carryOut(minter, initialize);
  }

  if (token !== undefined) await placeToken(token);
  const tokens = [...Object.values(SANDBOX_TOKENS), ...(token === undefined ? [] : [token.address])];
  const unused = await fundPayers({ chainId, evm, tokens }, minter, payerCount);

  return {
    evm,
    chainId,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    request,
    send,
    carryOut,
    mine: (blocks = 1) => evm.mine(blocks),
    /** A new payer. */
    newPayer(): Payer {
      const payer = unused.pop();
      if (payer === undefined) throw new Error('The chain of this test has too few payers.');
      return payer;
    },
    /** A transaction of a token's issuer, in its own block. */
    askIssuer: (token: Hex, call: Parameters<typeof encodeFunctionData<typeof TOKEN_ABI>>[0]) =>
      carryOut(minter, { to: token, data: encodeFunctionData(call) }),
    async balanceOf(token: Hex, account: string): Promise<bigint> {
      const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'balanceOf', args: [account as Hex] });
      return BigInt(await request('eth_call', { to: token, data }, 'latest'));
    },
    height: async () => Number(await request('eth_blockNumber')),
    timestampS: async () =>
      Number((await request<{ timestamp: Hex }>('eth_getBlockByNumber', 'latest', false)).timestamp),
    /** The next block has this base fee; the ones after it follow from it. */
    setBaseFee: (wei: bigint) => request('hardhat_setNextBlockBaseFeePerGas', `0x${wei.toString(16)}`),
    /** Transactions of the account that wait for a block. */
    async pendingOf(account: string): Promise<number> {
      const [pending, latest] = await Promise.all(
        ['pending', 'latest'].map((block) => request('eth_getTransactionCount', account, block)),
      );
      return Number(pending) - Number(latest);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await evm.close();
    },
  };
}

/** In one block, below which no reorg of a test reaches. */
async function fundPayers(
  chain: { chainId: number; evm: LocalEvm; tokens: readonly Hex[] },
  minter: Payer,
  count: number,
): Promise<Payer[]> {
  const payers = Array.from({ length: count }, (_, index) =>
    privateKeyToAccount(keccak256(stringToBytes(`fault payer ${index}`))),
  );
  const request = (method: string, ...params: unknown[]) => chain.evm.request({ method, params }) as Promise<Hex>;
  let nonce = Number(await request('eth_getTransactionCount', minter.address, 'latest'));
  for (const payer of payers) {
    await request('hardhat_setBalance', payer.address, `0x${COIN_FUNDS.toString(16)}`);
    for (const to of chain.tokens) {
      const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'mint', args: [payer.address, FUNDS] });
      const base = { type: 'eip1559', chainId: chain.chainId, gas: 200_000n, ...FEES } as const;
      await request('eth_sendRawTransaction', await minter.signTransaction({ ...base, nonce, to, data }));
      nonce += 1;
    }
  }
  await chain.evm.mine();
  return payers;
}

export const approvePermit2 = (amount = maxUint256) =>
  encodeFunctionData({ abi: TOKEN_ABI, functionName: 'approve', args: [PERMIT2_ADDRESS, amount] });
