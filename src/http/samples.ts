import { DESK_SAMPLES } from './desk-samples.ts';
import { lateSamples } from './late-samples.ts';
import { LINK_SAMPLES } from './link-samples.ts';
import { PEOPLE_SAMPLES } from './people-samples.ts';
import { SAMPLE_ORIGIN, type Sample } from './sample.ts';
import { sampleDeposit } from './sample-deposit.ts';
import {
  COLLECTOR,
  COMMITMENT,
  CREATED_AT,
  DESTINATION,
  DESTINATIONS,
  EXPIRES_AT_S,
  FEE_ACCOUNT,
  MERCHANT,
  MERCHANT_ID,
  OPTION_ID,
  PAID_AT,
  PAYER,
  PAYMENT_ID,
  PRICE,
  SETTLEMENT_ID,
  SHOP_ACCOUNT,
  SIGNATURE,
  TRANSACTION,
  USDC,
  usdc,
} from './sample-story.ts';
import { sampleTimeline } from './sample-timeline.ts';
import { signingSamples } from './signing-samples.ts';
import { STATISTICS_SAMPLES } from './statistics-samples.ts';
import { systemSamples } from './system-samples.ts';
import { webhookSamples } from './webhook-samples.ts';

/** The examples of the reference, which together are one story. A test checks each body against the schema of its route. */

const ORDER = {
  description: 'Breakfast for two',
  metadata: { table: '14' },
};

const CREATE_PAYMENT: Sample = {
  body: {
    amount: { unit: PRICE.unit, value: PRICE.value },
    referenceId: 'ORDER-42',
    ...ORDER,
    lineItems: [{ name: 'Espresso', quantity: 2, amount: { unit: PRICE.unit, value: '700' } }, { name: 'Biscuits' }],
    checkout: {
      successUrl: 'https://corner-coffee.example/thanks',
      errorUrl: 'https://corner-coffee.example/cart',
    },
  },
  answer: {
    paymentId: PAYMENT_ID,
    status: 'requires_action',
    expiresAt: EXPIRES_AT_S,
    isFinal: false,
    gatewayUrl: `${SAMPLE_ORIGIN}/?pid=${PAYMENT_ID}`,
    pollInMs: 1000,
  },
};

const REFUND = {
  paymentId: PAYMENT_ID,
  merchantId: MERCHANT_ID,
  refundId: 'rfnd_11KHRZ5Q8MB2N4P6R8T0V2X4Z6',
  status: 'refunded',
  problem: null,
  amount: usdc('3000000'),
  priceAmount: { ...PRICE, value: '300' },
  destination: `eip155:8453:${PAYER}`,
  reason: 'One cup of three came back',
  txId: '0x9f2b61c7a3d84e05b1f6c2907e5d4a38c16b7f02e9d35a4c8071b6e2f94d1a53',
  requestedAt: '2026-02-18T10:05:12.000Z',
  lastUpdatedAt: '2026-02-18T10:05:31.480Z',
  waitingFor: null,
};

/** The refund in the answer to its request. It has no `waitingFor`, because the workers have not processed the refund yet. */
const { waitingFor: _, ...ACCEPTED_REFUND } = REFUND;

const INFO = { optionAmount: usdc('10000000'), txId: TRANSACTION };
const STATUS: Sample = {
  params: { id: PAYMENT_ID },
  answer: { status: 'succeeded', isFinal: true, pollInMs: null, info: INFO },
};

function cancelledBy(reason: string): Sample {
  return {
    params: { id: PAYMENT_ID },
    answer: { paymentId: PAYMENT_ID, status: 'cancelled', cancelledReason: reason, cancelledAt: PAID_AT },
  };
}

const LIST: Sample = {
  answer: {
    data: [
      {
        paymentId: PAYMENT_ID,
        merchant: { id: MERCHANT_ID, name: MERCHANT.name, iconUrl: null },
        referenceId: 'ORDER-42',
        status: 'succeeded',
        isTerminal: true,
        fiatAmount: PRICE,
        tokenAmount: usdc('10000000'),
        buyer: { accountCaip10: `eip155:8453:${PAYER}`, accountProviderName: 'Example Wallet' },
        transaction: { networkId: '8453', hash: TRANSACTION, nonce: 17 },
        fees: { total: usdc('100000'), fixed: usdc('0'), percentage: '1' },
        settlement: { settled: true, amount: usdc('9900000'), txHash: TRANSACTION },
        settledAt: PAID_AT,
        createdAt: CREATED_AT,
        lastUpdatedAt: PAID_AT,
      },
    ],
    nextCursor: null,
    stats: { totalRevenue: [{ amount: 10, currency: 'USD' }], totalTransactions: 1, totalCustomers: 1 },
  },
};

/** The signing request for a wallet with USDC. */
const TYPED_DATA = JSON.stringify({
  domain: { name: 'USD Coin', version: '2', chainId: '0x2105', verifyingContract: USDC.split(':').at(-1) },
  types: {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
      { name: 'verifyingContract', type: 'address' },
    ],
    ReceiveWithAuthorization: [
      { name: 'from', type: 'address' },
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'validAfter', type: 'uint256' },
      { name: 'validBefore', type: 'uint256' },
      { name: 'nonce', type: 'bytes32' },
    ],
  },
  primaryType: 'ReceiveWithAuthorization',
  message: {
    from: PAYER,
    to: COLLECTOR,
    value: '0x989680',
    validAfter: '0x0',
    validBefore: `0x${(EXPIRES_AT_S + 120).toString(16)}`,
    nonce: COMMITMENT,
  },
});
const WALLET_ACTION = {
  type: 'walletRpc',
  data: { chain_id: 'eip155:8453', method: 'eth_signTypedData_v4', params: [PAYER, TYPED_DATA] },
};

const PAID = {
  paymentId: PAYMENT_ID,
  id: PAYMENT_ID,
  merchantId: MERCHANT_ID,
  referenceId: 'ORDER-42',
  amount: PRICE,
  status: 'succeeded',
  createdAt: CREATED_AT,
  expiresAt: EXPIRES_AT_S,
  gatewayUrl: `${SAMPLE_ORIGIN}/?pid=${PAYMENT_ID}`,
  info: INFO,
  settlement: { successful: { amount: { unit: `caip19/${USDC}` }, txId: TRANSACTION } },
  ...ORDER,
  acceptedAssets: [USDC],
  lineItems: [
    { name: 'Espresso', quantity: 2, amount: { ...PRICE, value: '700' } },
    { name: 'Biscuits', quantity: null, amount: null },
  ],
};

const PAID_EVENT = {
  id: 'evt_01KHRZ6T9NC3P5Q7R9S1T3V5W7',
  type: 'payment.succeeded',
  createdAt: PAID_AT,
  apiVersion: '2026-02-18',
  mode: 'live',
  merchantId: MERCHANT_ID,
  sequence: 3,
  data: PAID,
};

/** The samples by method and path, as OpenAPI spells them. */
export const SAMPLES: Readonly<Record<string, Sample>> = {
  'post /v1/merchants': {
    body: { merchantName: MERCHANT.name, merchantEmail: MERCHANT.email },
    answer: { merchant: MERCHANT },
  },
  'get /v1/merchants': {
    answer: { merchants: [{ ...MERCHANT, iconUrl: null, acceptedAssets: null }], totalCount: 1, nextCursor: null },
  },
  'get /v1/merchants/{merchantId}': {
    params: { merchantId: MERCHANT_ID },
    answer: { merchant: { ...MERCHANT, iconUrl: null, acceptedAssets: [USDC], settlements: DESTINATIONS } },
  },
  'patch /v1/merchants/{merchantId}': {
    params: { merchantId: MERCHANT_ID },
    body: { merchantName: 'Corner Coffee Roasters' },
    answer: { merchant: { ...MERCHANT, name: 'Corner Coffee Roasters', iconUrl: null, acceptedAssets: [USDC] } },
  },
  'put /v1/merchants/{merchantId}/status': {
    params: { merchantId: MERCHANT_ID },
    body: { status: 'inactive' },
    answer: { merchant: { ...MERCHANT, status: 'inactive', iconUrl: null, acceptedAssets: null } },
  },
  'delete /v1/merchants/{merchantId}': {
    params: { merchantId: MERCHANT_ID },
    answer: { id: MERCHANT_ID, deleted: true },
  },

  'get /v1/merchants/{merchantId}/settlements': { params: { merchantId: MERCHANT_ID }, answer: DESTINATIONS },
  'post /v1/merchants/{merchantId}/settlements/crypto': {
    params: { merchantId: MERCHANT_ID },
    body: { settlements: [{ asset: USDC, destination: DESTINATION.destination }] },
    answer: { settlements: [DESTINATION] },
  },
  'put /v1/merchants/{merchantId}/settlements/crypto/{id}': {
    params: { merchantId: MERCHANT_ID, id: SETTLEMENT_ID },
    body: { destination: `eip155:8453:${PAYER}` },
    answer: { ...DESTINATION, destination: `eip155:8453:${PAYER}` },
  },
  'delete /v1/merchants/{merchantId}/settlements/crypto/{id}': {
    params: { merchantId: MERCHANT_ID, id: SETTLEMENT_ID },
    answer: { id: SETTLEMENT_ID, deleted: true },
  },

  'post /v1/payments': CREATE_PAYMENT,
  'post /v1/merchant/payment': CREATE_PAYMENT,
  'get /v1/payments/{id}/status': STATUS,
  'get /v1/merchant/payment/{id}/status': STATUS,
  'get /v1/payments/{id}': {
    params: { id: PAYMENT_ID },
    answer: { ...PAID, refundable: { priceAmount: PRICE, amount: INFO.optionAmount }, lateMoney: [] },
  },
  'get /v1/events': { answer: { events: [PAID_EVENT], nextCursor: 'p2Vw4hT0bUqk8yYV3v6aYVsiMTIzIl0', hasMore: false } },
  'get /v1/events/{id}': { params: { id: PAID_EVENT.id }, answer: PAID_EVENT },
  'get /v1/payments/{id}/timeline': {
    params: { id: PAYMENT_ID },
    answer: sampleTimeline({ paymentId: PAYMENT_ID, payer: PAYER, asset: USDC, transaction: TRANSACTION }),
  },
  ...webhookSamples(PAYMENT_ID, PAID_EVENT),
  'post /v1/payments/{id}/cancel': cancelledBy('cancelled_by_merchant'),
  'get /v1/merchants/payments': LIST,
  'get /v1/payments': LIST,
  ...STATISTICS_SAMPLES,
  'get /v1/payments/{id}/receipt': {
    params: { id: PAYMENT_ID },
    answer: {
      receipt: {
        form: 'till-receipt/1',
        paymentId: PAYMENT_ID,
        merchantId: MERCHANT_ID,
        referenceId: 'ORDER-42',
        priceUnit: PRICE.unit,
        priceValue: PRICE.value,
        succeededAt: PAID_AT,
        network: 'eip155:8453',
        chainId: '8453',
        asset: USDC,
        token: USDC.split(':').at(-1),
        collector: COLLECTOR,
        payer: PAYER,
        recipient: SHOP_ACCOUNT,
        feeAccount: FEE_ACCOUNT,
        amount: '10000000',
        fee: '100000',
        deadline: String(EXPIRES_AT_S + 120),
        commitment: COMMITMENT,
        transaction: TRANSACTION,
        blockNumber: '42318007',
        blockHash: '0xb88577052443572f60ff4e26580ade95b9fccc37ec62ba1127e83e8cfed8e6c6',
        logIndex: '3',
      },
      signature: {
        algorithm: 'ed25519',
        keyId: 'JSVxJkyz5Nz6p9VZNAhW1XXEEmemlrtwDXStgvvglUM',
        value: 'hdHZZocxPrvQ2sV9XhSVTS1fI_lnqA3UQ9Re2I61yCdosE7AYzW23TcPp7aAifWWuV_SohLWs0RJ8YeKbCPIAg',
      },
      pageUrl: `https://till.example/c/${PAYMENT_ID.slice(4)}/q83vEjRWeJq83u8SNFZ4mg/receipt`,
    },
  },

  'post /v1/refunds': {
    body: {
      paymentId: PAYMENT_ID,
      amount: { unit: 'iso4217/USD', value: '300' },
      reason: 'One cup of three came back',
    },
    answer: { ...ACCEPTED_REFUND, status: 'requested', txId: null, lastUpdatedAt: REFUND.requestedAt },
  },
  'get /v1/refunds': { answer: { refunds: [REFUND], nextCursor: null } },
  'get /v1/refunds/{id}': { params: { id: REFUND.refundId }, answer: REFUND },

  ...lateSamples({ paymentId: PAYMENT_ID, merchantId: MERCHANT_ID, payer: PAYER, asset: USDC, amount: usdc }),

  'get /v1/gateway/payment/{id}': {
    params: { id: PAYMENT_ID },
    answer: {
      status: 'requires_action',
      amount: PRICE,
      expiresAt: EXPIRES_AT_S,
      merchant: { name: MERCHANT.name, iconUrl: null },
      buyer: null,
      accepted: [{ symbol: 'USDC', networkName: 'Base' }],
      transaction: null,
      attempt: null,
      lateMoney: [],
    },
  },
  'post /v1/gateway/payment/{id}/options': {
    params: { id: PAYMENT_ID },
    body: { accounts: [`eip155:8453:${PAYER}`] },
    answer: {
      options: [
        {
          id: OPTION_ID,
          account: `eip155:8453:${PAYER}`,
          amount: usdc('10000000'),
          etaS: 10,
          actions: [WALLET_ACTION],
          expiresAt: EXPIRES_AT_S,
          rate: null,
          collectData: null,
        },
      ],
      info: null,
      collectData: null,
    },
  },
  'post /v1/gateway/payment/{id}/fetch': {
    params: { id: PAYMENT_ID },
    body: { optionId: OPTION_ID, data: '' },
    answer: { actions: [WALLET_ACTION] },
  },
  'post /v1/gateway/payment/{id}/confirm': {
    params: { id: PAYMENT_ID },
    body: { optionId: OPTION_ID, results: [{ type: 'walletRpc', data: [SIGNATURE] }] },
    answer: { status: 'processing', isFinal: false, pollInMs: 2000, info: null },
  },
  'post /v1/gateway/payment/{id}/address': {
    params: { id: PAYMENT_ID },
    body: { asset: USDC },
    answer: sampleDeposit(usdc('10000000'), usdc('0'), EXPIRES_AT_S),
  },
  'get /x402/{id}': STATUS,
  'get /v1/gateway/payment/{id}/status': STATUS,
  'post /v1/gateway/payment/{id}/cancel': cancelledBy('cancelled_by_user'),
  ...signingSamples({
    refund: REFUND,
    merchant: MERCHANT.name,
    action: { ...WALLET_ACTION.data, params: [SHOP_ACCOUNT, TYPED_DATA.replace(PAYER, SHOP_ACCOUNT)] },
    signature: SIGNATURE,
  }),
  'post /v1/gateway/payment/{id}/receipt-email': {
    params: { id: PAYMENT_ID },
    body: { email: 'payer@example.com', language: 'en' },
    answer: { status: 'queued' },
  },

  ...LINK_SAMPLES,
  ...PEOPLE_SAMPLES,
  ...DESK_SAMPLES,

  'get /v1/test/clock': { answer: { now: CREATED_AT, aheadMs: 0 } },
  'post /v1/test/clock': {
    body: { advanceMs: 3_600_000 },
    answer: { now: '2026-02-18T10:30:00.000Z', aheadMs: 3_600_000 },
  },

  ...systemSamples(USDC),
  'get /.well-known/till-receipts.json': {
    answer: {
      keys: [
        {
          kty: 'OKP',
          crv: 'Ed25519',
          alg: 'EdDSA',
          use: 'sig',
          kid: 'JSVxJkyz5Nz6p9VZNAhW1XXEEmemlrtwDXStgvvglUM',
          x: '5FD14rWXXD0DKBrFy2ySXviaJF7jVc9BiEJQIbyu03I',
        },
      ],
    },
  },
};
