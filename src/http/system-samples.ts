import type { Sample } from './sample.ts';

export function systemSamples(asset: string): Readonly<Record<string, Sample>> {
  return {
    'get /health': { answer: { status: 'ok', version: '0.2.0' } },
    'get /versions': { answer: { versions: [{ version: '2026-02-18', isPreview: false }], default: '2026-02-18' } },
    'get /ready': {
      answer: {
        ready: true,
        stopping: false,
        database: 'ok',
        secret: 'ok',
        clockOffMs: 12,
        chains: [
          {
            network: 'eip155:8453',
            name: 'Base',
            state: 'up',
            endpoints: 2,
            endpointsUp: 2,
            head: 42_318_012,
            payable: [asset],
            remarks: [],
          },
        ],
        remarks: [],
      },
    },
  };
}
