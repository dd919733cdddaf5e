import assert from 'node:assert/strict';
import type { PaymentEvent } from '../../src/domain/payment.ts';
import { createTestMerchant, createTestPartner, type PartnerOptions, type TestGateway } from '../gateway.ts';

export type Headers = Record<string, string>;
export type Shop = Awaited<ReturnType<typeof openShop>>;

export interface CreatedBody {
  readonly paymentId: string;
  readonly status: string;
  readonly expiresAt: number;
  readonly isFinal: boolean;
  readonly gatewayUrl: string;
  readonly pollInMs: number | null;
}

/** Ten dollars. */
export const ORDER = { amount: { unit: 'iso4217/USD', value: '1000' }, referenceId: 'ORDER-42' };

/** A partner with a key and one merchant, and the requests of its software. */
export async function openShop(gateway: TestGateway, options: PartnerOptions = {}) {
  const partner = await createTestPartner(gateway, options);
  const merchant = await createTestMerchant(gateway, partner.headers);
  const headers: Headers = { ...partner.headers, 'merchant-id': merchant.id };
  const create = (body: object | string = ORDER, extra: Headers = {}, on = gateway) =>
    on.call({
      method: 'POST',
      url: '/v1/payments',
      headers: { ...headers, 'content-type': 'application/json', ...extra },
      payload: body,
    });
  return {
    ...partner,
    merchant,
    headers,
    create,
    /** A created payment. */
    async created(fields: object = {}): Promise<CreatedBody> {
      const response = await create({ ...ORDER, ...fields });
      assert.equal(response.statusCode, 201, response.body);
      return response.json();
    },
    details: (id: string, as = headers) => gateway.call({ url: `/v1/payments/${id}`, headers: as }),
    status: (id: string, as = headers) => gateway.call({ url: `/v1/payments/${id}/status`, headers: as }),
    cancel: (id: string, as = headers, on = gateway) =>
      on.call({ method: 'POST', url: `/v1/payments/${id}/cancel`, headers: as }),
  };
}

/** The requests of a wallet or the checkout, with its credentials. */
export function payer(gateway: TestGateway, headers: Headers) {
  const url = (id: string, rest = '') => `/v1/gateway/payment/${id}${rest}`;
  return {
    info: (id: string) => gateway.call({ url: url(id), headers }),
    status: (id: string) => gateway.call({ url: url(id, '/status'), headers }),
    cancel: (id: string, on = gateway) => on.call({ method: 'POST', url: url(id, '/cancel'), headers }),
  };
}

export const BUYER = { account: 'eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', name: 'Wallet', icon: null };
export const TOKEN = { asset: 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', value: 10_000_000n };
export const TX_HASH = `0x${'ab'.repeat(32)}`;

/** Events of payments, applied by tests in place of relayer and watcher. */
export const EVENTS = {
  confirmed: { type: 'confirmed', buyer: BUYER, token: TOKEN, isNative: false },
  succeeded: { type: 'succeeded', buyer: BUYER, token: TOKEN, transaction: { hash: TX_HASH, nonce: 7 } },
  failed: { type: 'failed', failureCode: null },
  declined: { type: 'failed', failureCode: 'declined_user' },
} as const satisfies Record<string, PaymentEvent>;

export async function happen(
  gateway: TestGateway,
  paymentId: string,
  ...names: (keyof typeof EVENTS)[]
): Promise<void> {
  for (const name of names) {
    const outcome = await gateway.movePayment({ paymentId, event: EVENTS[name], actor: 'test', evidence: {} });
    assert.ok(outcome.ok, name);
  }
}

/** The number of the merchant's payments. */
export async function countPayments(gateway: TestGateway, merchantId: string): Promise<number> {
  const rows = await gateway.db.sql<{ count: number }[]>`
    select count(*)::int as count from payments where merchant_id = ${merchantId}`;
  return rows[0]?.count ?? 0;
}
