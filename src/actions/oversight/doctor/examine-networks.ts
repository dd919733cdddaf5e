import { blockTimeOf } from '../../../chains/finality.ts';
import type { Asked, ClockFacts, NetworkFacts } from '../../../domain/doctor/facts.ts';
import type { World } from '../../../runtime/world.ts';
import { findCursors } from '../../../store/chain/chain-cursors.ts';
import { askEndpoint, type EndpointAnswer } from '../ask-endpoint.ts';
import type { Read } from './examine-database.ts';
import type { ConfiguredNetwork } from './examine-deps.ts';

export interface AskedNetwork {
  readonly configured: ConfiguredNetwork;
  readonly answers: readonly EndpointAnswer[];
}

/** Asks every endpoint of every network separately, and all of them at the same time. */
export async function askNetworks(deps: {
  readonly world: World;
  readonly networks: Asked<readonly ConfiguredNetwork[]>;
}): Promise<Asked<readonly AskedNetwork[]>> {
  if ('unknown' in deps.networks) return deps.networks;
  const known = await Promise.all(
    deps.networks.known.map(async (configured) => ({
      configured,
      answers: await Promise.all(configured.endpoints.map((open) => askEndpoint(deps, open()))),
    })),
  );
  return { known };
}

export async function networksOf(
  asked: Asked<readonly AskedNetwork[]>,
  { read, offMs }: { read: Read; offMs: Asked<number> },
): Promise<Asked<readonly NetworkFacts[]>> {
  if ('unknown' in asked) return asked;
  const cursors = await read(findCursors);
  const known = asked.known.map(({ configured: { network, isSandbox }, answers }): NetworkFacts => {
    const cursor = 'known' in cursors ? cursors.known.find((each) => each.network === network.chainId) : undefined;
    return {
      network: network.chainId,
      name: network.name,
      blockTimeMs: blockTimeOf(network),
      isSandbox,
      readTo: cursor?.blockNumber ?? null,
      endpoints: answers.map(({ state, head, answeredAtMs, latencyMs, problems }, index) => ({
        endpoint: index + 1,
        isUp: state === 'up',
        head: head?.number ?? null,
        headAgeMs: head === undefined ? null : answeredAtMs - offOf(offMs) - head.timestampS * 1_000,
        latencyMs: latencyMs ?? null,
        problems,
      })),
    };
  });
  return { known };
}

function offOf(offMs: Asked<number>): number {
  return 'known' in offMs ? offMs.known : 0;
}

/**
 * The facts about clocks: how far the machine's clock is off, and how far the newest blocks are ahead. Sandboxes are skipped, because
 * their time can be moved.
 */
export function clocksOf(asked: Asked<readonly NetworkFacts[]>, machineOffMs: Asked<number>): Asked<ClockFacts> {
  const networks = 'known' in asked ? asked.known.filter(({ isSandbox }) => !isSandbox) : [];
  const heads = networks.flatMap(({ name, endpoints }) => {
    const ages = endpoints.flatMap(({ headAgeMs }) => headAgeMs ?? []);
    return ages.length === 0 ? [] : [{ name, aheadMs: -Math.min(...ages) }];
  });
  return { known: { machineOffMs, heads } };
}
