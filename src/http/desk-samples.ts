import { SAMPLE_ORIGIN, type Sample } from './sample.ts';
import { MERCHANT_ID } from './sample-story.ts';

const AT = '2026-02-18T10:02:00.000Z';
const KEY = {
  id: 'key_01KHRZ8E5JZ0K2M4N6P8Q0R2S4',
  label: 'Shop backend',
  mode: 'live',
  hint: 'x7Qd',
  scopes: ['payments:read', 'payments:write'],
  merchantIds: null,
  addresses: ['203.0.113.0/28'],
  status: 'active',
  rotatedFrom: null,
  createdAt: '2026-02-18T09:30:00.000Z',
  expiresAt: '2027-02-18T09:30:00.000Z',
  lastUsedAt: '2026-02-18T10:02:00.000Z',
};
const NEW = { ...KEY, lastUsedAt: null };
const SECRET = 'till_live_…';
const SUCCESSOR = { ...NEW, id: 'key_01KHTZ8E5JZ0K2M4N6P8Q0R2S4', hint: 'Bm3k', rotatedFrom: KEY.id };

const OF_MERCHANT = { merchantId: MERCHANT_ID };
const LOGO_URL = `${SAMPLE_ORIGIN}/logos/9f86d081884c7d659a2feaa0c55ad015`;
const BRANDING = {
  logoUrl: LOGO_URL,
  uploadedLogoUrl: LOGO_URL,
  copiedLogoUrl: null,
  accentColor: '#635bff',
  poweredBy: true,
};

/** Examples of the routes for branding, keys, payouts and the gateway itself. */
export const DESK_SAMPLES: Readonly<Record<string, Sample>> = {
  'get /v1/merchants/{merchantId}/branding': { params: OF_MERCHANT, answer: { branding: BRANDING } },
  'patch /v1/merchants/{merchantId}/branding': {
    params: OF_MERCHANT,
    body: { accentColor: BRANDING.accentColor, poweredBy: false },
    answer: { branding: { ...BRANDING, poweredBy: false } },
  },
  'get /v1/merchants/{merchantId}/currencies': {
    params: OF_MERCHANT,
    answer: {
      currencies: [
        { code: 'USD', decimals: 2 },
        { code: 'EUR', decimals: 2 },
      ],
    },
  },
  'get /v1/api-keys': { answer: { apiKeys: [KEY], nextCursor: null } },
  'post /v1/api-keys': {
    body: { label: KEY.label, scopes: KEY.scopes, addresses: KEY.addresses },
    answer: { apiKey: { ...NEW, secret: SECRET } },
  },
  'post /v1/api-keys/{id}/rotate': {
    params: { id: KEY.id },
    body: { overlapSeconds: 3_600 },
    answer: {
      apiKey: { ...SUCCESSOR, secret: SECRET },
      replaced: { ...KEY, expiresAt: '2026-02-18T11:30:00.000Z' },
    },
  },
  'delete /v1/api-keys/{id}': { params: { id: KEY.id }, answer: { id: KEY.id, deleted: true } },
  'get /v1/request-log': {
    answer: {
      requests: [
        {
          id: 'mQ2f0Zr6B0nq1lM7yX3c9w4sVtJp8hKd2uEoGi5aTzY',
          at: '2026-02-18T10:02:00.000Z',
          keyId: KEY.id,
          keyLabel: KEY.label,
          method: 'POST',
          path: '/v1/payments',
          status: 400,
          ms: 4,
          code: 'params_validation',
          message: 'Validation error: referenceId is required',
          requestId: 'req_5f0c2f7e',
          address: '203.0.113.7',
          skipped: 0,
        },
      ],
      nextCursor: null,
    },
  },
  'get /v1/assets': {
    answer: {
      assets: [
        {
          asset: 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
          symbol: 'USDC',
          name: 'USD Coin',
          decimals: 6,
          network: 'eip155:8453',
          networkName: 'Base',
          iconUrl: `${SAMPLE_ORIGIN}/icons/token/USDC.svg`,
          networkIconUrl: `${SAMPLE_ORIGIN}/icons/network/eip155-8453.svg`,
        },
      ],
    },
  },
  'get /v1/accepted-assets': { answer: { acceptedAssets: null } },
  'put /v1/accepted-assets': {
    body: { acceptedAssets: ['eip155:8453'] },
    answer: { acceptedAssets: ['eip155:8453'] },
  },
  'get /v1/payouts': {
    answer: {
      payouts: [
        {
          paymentId: 'pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6',
          referenceId: 'ORDER-1042',
          merchantId: 'mrch_01KHRZ3B5JZ0K2M4N6P8Q0R2S4',
          status: 'held',
          amount: {
            unit: 'caip19/eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
            value: '9960000',
            display: { assetSymbol: 'USDC', assetName: 'USD Coin', decimals: 6, networkName: 'Base' },
          },
          destination: null,
          txId: null,
          heldAt: AT,
          lastUpdatedAt: AT,
          waitingFor: { what: 'destination' },
        },
      ],
      nextCursor: null,
    },
  },
  'get /v1/operator/partners': {
    answer: { partners: [{ id: 'prtn_01KHRZ2A5JZ0K2M4N6P8Q0R2S4', name: 'Corner Coffee', isDisabled: false }] },
  },
  'get /v1/operator/status': {
    answer: {
      nodes: [
        { id: '9f2c51d07ab3e846', host: 'till-1', roles: ['api', 'jobs'], startedAt: AT, seenAt: AT, isUp: true },
      ],
      leases: [{ name: 'watch eip155:8453', isHeld: true, until: AT }],
      alerts: [
        {
          name: 'relayer_balance_low',
          subject: 'eip155:8453:0x2D8B5f4C1C9e1e0F3D9a6F6b1A2B3c4D5e6F7a8B',
          message: 'The relayer has 0.004 ETH left.',
          since: AT,
          lastSeen: AT,
          runbook: 'docs/operating.md#alert-relayer_balance_low',
        },
      ],
      freezes: [{ scope: 'payouts', subject: '', reason: 'An audit', actor: 'operator', since: AT }],
    },
  },
  'get /v1/operator/networks': {
    answer: {
      networks: [
        {
          network: 'eip155:8453',
          name: 'Base',
          coin: 'ETH',
          head: 41_250_012,
          readTo: 41_250_011,
          finalTo: 41_250_002,
          finalAt: AT,
          lag: 1,
          endpoints: [{ name: 'endpoint 1', isUp: true, trouble: null }],
          disagreements: [],
          problems: [],
          relayers: [
            {
              address: '0x2D8B5f4C1C9e1e0F3D9a6F6b1A2B3c4D5e6F7a8B',
              balance: '0.42',
              spentPerDay: '0.011',
              daysLeft: 38,
              itemsPerDay: 5_120,
              inFlight: 1,
              isLed: true,
            },
          ],
          gasPerItem: '0.0000021',
          books: { auditedBlock: 41_249_990, problems: [] },
        },
      ],
    },
  },
  'get /v1/operator/examination': {
    answer: {
      at: AT,
      level: 'warning',
      sections: [
        {
          check: 'database',
          title: 'Database',
          level: 'well',
          facts: [{ name: 'PostgreSQL', value: '18.1' }],
          findings: [],
        },
        {
          check: 'clocks',
          title: 'Clocks',
          level: 'warning',
          facts: [{ name: 'this machine', value: '12 s ahead of the database' }],
          findings: [
            {
              level: 'warning',
              message: 'The clock of this machine is 12 s ahead of the database.',
              remedy: 'Let every machine follow the same time servers (NTP).',
            },
          ],
        },
      ],
    },
  },
};
