import type { TypedDataDefinition } from 'viem';
import { call } from './calls.ts';
import type { PayingGateway } from './paying-gateway.ts';
import type { Payer } from './paying-payers.ts';

/** A signed payment, ready to be submitted. */
export interface SignedPayment {
  readonly id: string;
  readonly merchant: string;
  /** The body of the confirm request. */
  readonly confirmation: string;
}

/** The fields of an option that published wallets read; `build` holds the request as hex of its JSON. */
interface OptionBody {
  readonly id: string;
  readonly amount: { readonly unit: string };
  readonly actions: readonly { readonly type: string; readonly data: { readonly data: string } }[];
}

export interface SignInput {
  readonly payer: Payer;
  readonly merchant: string;
  /** CAIP-19. */
  readonly asset: string;
  /** In cents. */
  readonly price: string;
  readonly lifetimeS?: number;
}

const LIFETIME_S = 3600;

/** Creates a payment, fetches its options, and signs: all steps of a payer before the confirmation. */
export async function signPayment(gateway: PayingGateway, input: SignInput): Promise<SignedPayment> {
  const { payer, merchant, asset, price, lifetimeS = LIFETIME_S } = input;
  const [network = ''] = asset.split('/');
  const headers = { 'Api-Key': gateway.apiKey, 'Content-Type': 'application/json' };
  const post = async <T>(path: string, extra: object, body: unknown) =>
    JSON.parse(
      (
        await call({
          port: gateway.port,
          method: 'POST',
          path,
          headers: { ...headers, ...extra },
          body: JSON.stringify(body),
        })
      ).text,
    ) as T;
  const expiresAt = Math.floor(Date.now() / 1000) + lifetimeS;
  const order = { amount: { unit: 'iso4217/USD', value: price }, referenceId: 'BENCH', expiresAt };
  const { paymentId } = await post<{ paymentId: string }>('/v1/payments', { 'Merchant-Id': merchant }, order);
  const { options } = await post<{ options: OptionBody[] }>(
    `/v1/gateway/payment/${paymentId}/options?includePaymentInfo=false`,
    {},
    { accounts: [`${network}:${payer.address}`] },
  );
  const option = options.find(({ amount }) => amount.unit === `caip19/${asset}`);
  const action = option?.actions[0];
  if (option === undefined || action?.type !== 'build') throw new Error(`${asset} was not offered.`);
  const request = JSON.parse(Buffer.from(action.data.data, 'hex').toString()) as { params: [string, string] };
  const signature = payer.sign(JSON.parse(request.params[1]) as TypedDataDefinition);
  const results = [{ type: 'walletRpc', data: [signature] }];
  return { id: paymentId, merchant, confirmation: JSON.stringify({ optionId: option.id, results }) };
}

/** Submits a signed payment; optionally waits for the end of the payment. */
export async function confirm(gateway: PayingGateway, payment: SignedPayment, holdMs = 0): Promise<StatusBody> {
  const { text } = await call({
    port: gateway.port,
    method: 'POST',
    path: `/v1/gateway/payment/${payment.id}/confirm${holdMs > 0 ? `?maxPollMs=${holdMs}` : ''}`,
    headers: { 'Api-Key': gateway.apiKey, 'Content-Type': 'application/json' },
    body: payment.confirmation,
  });
  return JSON.parse(text) as StatusBody;
}

export async function statusOf(gateway: PayingGateway, payment: SignedPayment, holdMs = 0): Promise<StatusBody> {
  const { text } = await call({
    port: gateway.port,
    path: `/v1/gateway/payment/${payment.id}/status${holdMs > 0 ? `?maxPollMs=${holdMs}` : ''}`,
    headers: { 'Api-Key': gateway.apiKey },
  });
  return JSON.parse(text) as StatusBody;
}

export interface StatusBody {
  readonly status: string;
  readonly isFinal: boolean;
}

/** Runs the work for every item, with bounded concurrency. */
export async function forEachAtOnce<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = new Array(items.length);
  const entries = items.entries();
  const worker = async () => {
    for (const [index, item] of entries) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}
