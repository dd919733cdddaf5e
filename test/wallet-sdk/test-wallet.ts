import assert from 'node:assert/strict';
import {
  createNonceManager,
  createPublicClient,
  createWalletClient,
  defineChain,
  type Hex,
  http,
  type NonceManager,
  type TypedDataDefinition,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { jsonRpc } from 'viem/nonce';

/** A request as the SDK hands it to a wallet. */
export interface WalletRequest {
  readonly chainId: string;
  readonly method: string;
  readonly params: string;
}

export type TestWallet = ReturnType<typeof createTestWallet>;

const RECEIPT_WITHIN_MS = 20_000;
const POLL_MS = 50;

/**
 * The nonces of each chain, by its URL. The manager of viem itself tells chains apart by their ids, and every sandbox has
 * the same one: the faucet of a second sandbox would begin with the nonce of the first.
 */
const nonceManagers = new Map<string, NonceManager>();

function nonceManagerOf(rpcUrl: string): NonceManager {
  const known = nonceManagers.get(rpcUrl) ?? createNonceManager({ source: jsonRpc() });
  nonceManagers.set(rpcUrl, known);
  return known;
}

/** A wallet with one key on one chain: it signs and sends every request, and waits for its transactions. */
export function createTestWallet(input: { rpcUrl: string; chainId: string; privateKey?: Hex }) {
  const account = privateKeyToAccount(input.privateKey ?? generatePrivateKey(), {
    nonceManager: nonceManagerOf(input.rpcUrl),
  });
  const chain = defineChain({
    id: Number(input.chainId.split(':')[1]),
    name: 'Test chain',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [input.rpcUrl] } },
  });
  const transport = http(input.rpcUrl, { retryCount: 0 });
  const reader = createPublicClient({ chain, transport, pollingInterval: POLL_MS, cacheTime: 0 });
  const sender = createWalletClient({ account, chain, transport });

  async function send(transaction: { to: Hex; data?: Hex; value?: bigint }): Promise<Hex> {
    const hash = await sender.sendTransaction(transaction);
    const receipt = await reader.waitForTransactionReceipt({ hash, timeout: RECEIPT_WITHIN_MS });
    assert.equal(receipt.status, 'success', 'the transaction of the wallet was mined and did what it should');
    return hash;
  }

  /** The result of one request, in the form of `confirm`. */
  async function answer({ chainId, method, params }: WalletRequest): Promise<string> {
    assert.equal(chainId, input.chainId);
    const parsed: unknown = JSON.parse(params);
    assert.ok(Array.isArray(parsed));
    if (method === 'eth_signTypedData_v4') {
      const [address, typedData] = parsed as [string, string];
      assert.equal(address, account.address.toLowerCase());
      assert.equal(typeof typedData, 'string', 'typed data comes as a JSON string');
      return account.signTypedData(JSON.parse(typedData) as TypedDataDefinition);
    }
    assert.equal(method, 'eth_sendTransaction');
    const [{ from, to, data, value }] = parsed as [{ from: string; to: Hex; data?: Hex; value?: Hex }];
    assert.equal(from, account.address.toLowerCase());
    return send({ to, ...(data && { data }), ...(value && { value: BigInt(value) }) });
  }

  return {
    address: account.address,
    /** CAIP-10. */
    account: `${input.chainId}:${account.address}`,
    reader,
    send,
    /** Carries out the requests in order: a signature may depend on the transaction before it. */
    async answerAll(requests: readonly WalletRequest[]): Promise<string[]> {
      const results: string[] = [];
      for (const request of requests) results.push(await answer(request));
      return results;
    },
  };
}
