import { SAMPLE_ORIGIN, type Sample } from './sample.ts';

const LINK = {
  id: 'plk_01KHRZ7C2PD4R6T8V0W2X4Y6Z8',
  url: `${SAMPLE_ORIGIN}/l/01KHRZ7C2PD4R6T8V0W2X4Y6Z8`,
  description: 'Coffee tasting on Saturday',
  referenceId: 'plk_01KHRZ7C2PD4R6T8V0W2X4Y6Z8',
  amount: {
    unit: 'iso4217/USD',
    value: '2500',
    display: { assetSymbol: 'USD', assetName: 'US Dollar', decimals: 2 },
  },
  minimum: null,
  maximum: null,
  stock: 20,
  taken: 0,
  status: 'active',
  expiresAt: null,
  acceptedAssets: null,
  pictureUrl: null,
  createdAt: '2026-02-18T09:30:00.000Z',
};
const LINK_ID = { id: LINK.id };

export const LINK_SAMPLES: Readonly<Record<string, Sample>> = {
  'post /v1/payment-links': {
    body: { description: LINK.description, amount: { unit: 'iso4217/USD', value: '2500' }, stock: 20 },
    answer: { paymentLink: LINK },
  },
  'get /v1/payment-links': { answer: { paymentLinks: [LINK], nextCursor: null } },
  'get /v1/payment-links/{id}': { params: LINK_ID, answer: { paymentLink: LINK } },
  'patch /v1/payment-links/{id}': {
    params: LINK_ID,
    body: { stock: 30 },
    answer: { paymentLink: { ...LINK, stock: 30, taken: 12 } },
  },
};
