import { privateKeyToAccount } from 'viem/accounts';
import { TOKEN } from './load.ts';
import type { PayerWallet } from './payer-wallet.ts';
import { NETWORK } from './settings.ts';

/** More than all refunds, and no amount of an order. */
const OWN_UNITS = 1_000_000_000_001n;

export interface HandMerchant {
  readonly merchantId: string;
  /** Receives the payments, and signs for their refunds. */
  readonly account: ReturnType<typeof privateKeyToAccount>;
}

/** A merchant without a float: its own account signs for refunds. */
export async function openHandMerchant(
  { baseUrl, apiKey }: { readonly baseUrl: string; readonly apiKey: string },
  wallet: PayerWallet,
): Promise<HandMerchant> {
  const account = privateKeyToAccount(`0x${'4a'.repeat(32)}`);
  const post = async (path: string, body: object) => {
    const headers = { 'Api-Key': apiKey, 'Content-Type': 'application/json', 'Idempotency-Key': `hand-${path}` };
    const answer = await fetch(`${baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (answer.status !== 201) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`);
    return answer.json() as Promise<{ readonly merchant: { readonly id: string } }>;
  };
  const { merchant } = await post('/v1/merchants', { merchantName: 'By hand', merchantEmail: 'hand@shop.example' });
  const destination = `${NETWORK}:${account.address}`;
  const settlements = [{ asset: `${NETWORK}/erc20:${TOKEN}`, destination }];
  await post(`/v1/merchants/${merchant.id}/settlements/crypto`, { settlements });
  await wallet.transfer(account.address, OWN_UNITS);
  return { merchantId: merchant.id, account };
}
