import { createWalletClient, defineChain, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { SANDBOX_KEYS } from './genesis.ts';

/** Sends the transaction of an `eth_sendTransaction` request from the sandbox's second wallet. */
export function createSecondPayer(rpcUrl: string): (request: { readonly params: readonly unknown[] }) => Promise<void> {
  const chain = defineChain({
    id: 31_337,
    name: 'Till Sandbox',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  });
  const account = privateKeyToAccount(SANDBOX_KEYS.secondPayer);
  const client = createWalletClient({ account, chain, transport: http(rpcUrl) });
  return async ({ params }) => {
    const [{ to, data, value }] = params as [{ to: Hex; data: Hex; value: Hex }];
    await client.sendTransaction({ to, data, value: BigInt(value) });
  };
}
