import type { Sample } from './sample.ts';

const USDC = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const VOLUME = [{ currency: 'USD', kind: 'currency', decimals: 2, amount: '10' }];

/** Examples of statistics: the payment of the story, among three. */
export const STATISTICS_SAMPLES: Readonly<Record<string, Sample>> = {
  'get /v1/statistics/payments': {
    answer: {
      from: '2026-01-20',
      until: '2026-02-18',
      statuses: { requires_action: 0, processing: 0, succeeded: 1, failed: 0, expired: 1, cancelled: 1 },
      volume: VOLUME,
      days: [{ day: '2026-02-18', payments: 3, succeeded: 1, volume: VOLUME }],
      assets: [
        { asset: USDC, symbol: 'USDC', network: 'eip155:8453', networkName: 'Base', payments: 1, volume: VOLUME },
      ],
      steps: { created: 3, opened: 2, options: 2, signed: 1, paid: 1 },
      timeToPay: { medianSeconds: 50, p90Seconds: 50 },
    },
  },
  'get /v1/statistics/attention': {
    answer: {
      waitingRefunds: 0,
      failedRefunds: 0,
      failingEndpoints: 1,
      heldPayments: 0,
      lateMoney: 0,
      slowPayments: 0,
    },
  },
};
