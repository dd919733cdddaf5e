import { type Static, Type } from 'typebox';
import { knowsNewestSecret } from '../actions/open-receipt-key.ts';
import { findMissingNetworks } from '../actions/oversight/missing-networks.ts';
import type { ConnectedChain } from '../chains/chains.ts';
import { loneCeilingOf } from '../chains/finality.ts';
import type { Network } from '../chains/network.ts';
import { clockRemark } from '../domain/clock-off.ts';
import { LONE_DEPTH_FACTOR } from '../domain/quorum.ts';
import { productionRisks } from '../settings/production-risks.ts';
import { isMigrated } from '../store/plumbing/migrate.ts';
import type { HttpDeps } from './deps.ts';

export type Readiness = Static<typeof Readiness>;

type ReadinessDeps = Pick<HttpDeps, 'config' | 'db' | 'chains' | 'drain' | 'clockOffMs' | 'secrets' | 'standing'>;

/** Checks whether the node can take requests. Concurrent checks share one read of the database. */
export function createReadiness(deps: ReadinessDeps): () => Promise<Readiness> {
  let reading: Promise<DatabaseReadiness> | undefined;
  const readOnce = () => {
    reading ??= databaseState(deps).finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const risks = productionRisks(deps.config).map(({ message }) => message);
  return async () => {
    const { database, secret, missing } = await readOnce();
    const stopping = deps.drain.hasBegun;
    const clockOffMs = deps.clockOffMs();
    return {
      ready: database === 'ok' && secret === 'ok' && !stopping,
      stopping,
      database,
      secret,
      clockOffMs,
      chains: deps.chains.list().map(chainState),
      remarks: [
        ...risks,
        ...missing,
        clockRemark(clockOffMs) ?? [],
        secret === 'ok' ? [] : OUTDATED,
        deps.standing.problem() ?? [],
      ].flat(),
    };
  };
}

type DatabaseState = 'ok' | 'unreachable' | 'not_migrated';

interface DatabaseReadiness {
  readonly database: DatabaseState;
  /** `outdated`: the master secret was rotated, and this node has only the older one. */
  readonly secret: 'ok' | 'outdated';
  /** Sentences about networks that have open work and are not configured. */
  readonly missing: readonly string[];
}

const OUTDATED =
  'The master secret was rotated, and this node does not have the new one: it refuses valid keys. Set TILL_SECRET, and restart it.';

async function databaseState({ db, config, secrets, chains }: ReadinessDeps): Promise<DatabaseReadiness> {
  try {
    if (!(await isMigrated(db.sql))) return { database: 'not_migrated', secret: 'ok', missing: [] };
    const [isNewest, missing] = await Promise.all([
      knowsNewestSecret(db.sql, secrets),
      findMissingNetworks(db.sql, config.registry, chains),
    ]);
    const secret = isNewest ? 'ok' : 'outdated';
    return { database: 'ok', secret, missing: missing.map(({ message }) => message) };
  } catch {
    return { database: 'unreachable', secret: 'ok', missing: [] };
  }
}

/**
 * The readiness of one chain. A chain that is down does not make the node unready, because only the options on this chain are
 * missing.
 */
function chainState(connected: ConnectedChain): Static<typeof ChainState> {
  const { network } = connected.chain;
  const { endpoints, endpointsUp, headNumber, states } = connected.chain.health();
  const payable = connected.payable();
  const remarks = [
    ...connected.problems(),
    ...states.flatMap(({ name, trouble }) => (trouble === undefined ? [] : [`${name.replace(/^e/, 'E')} ${trouble}.`])),
    ...(connected.relayers.length === 0 ? ['No relayer is configured: nothing new is offered.'] : []),
    ...(endpoints === 1 && !network.isTrustedAlone ? [aloneRemark(network)] : []),
  ];
  return {
    network: network.chainId,
    name: network.name,
    state: endpointsUp === 0 ? 'down' : payable.length === 0 ? 'not_usable' : 'up',
    endpoints,
    endpointsUp,
    head: headNumber ?? null,
    payable: [...payable],
    remarks,
  };
}

function aloneRemark(network: Network): string {
  const ceiling = loneCeilingOf(network);
  return `Only one endpoint is configured: payments up to ${ceiling} tokens count at ${LONE_DEPTH_FACTOR} times the depth, larger ones wait.`;
}

const ChainState = Type.Object(
  {
    network: Type.String({ description: 'CAIP-2.' }),
    name: Type.String(),
    state: Type.Union([Type.Literal('up'), Type.Literal('down'), Type.Literal('not_usable')], {
      description: '`up`; `down`: no endpoint answers; `not_usable`: no payments are possible, see `remarks`.',
    }),
    endpoints: Type.Integer(),
    endpointsUp: Type.Integer(),
    head: Type.Union([Type.Integer(), Type.Null()], { description: 'The highest block seen.' }),
    payable: Type.Array(Type.String(), { description: 'CAIP-19 ids of the payable assets.' }),
    remarks: Type.Array(Type.String(), { description: 'Remarks for the operator, in sentences.' }),
  },
  { title: 'ChainReadiness' },
);

export const Readiness = Type.Object(
  {
    ready: Type.Boolean(),
    stopping: Type.Boolean({ description: 'True while the node answers its last requests before it stops.' }),
    database: Type.String({ description: '`ok`, `unreachable` or `not_migrated`.' }),
    secret: Type.String({
      description: '`ok`, or `outdated`: the master secret was rotated, and this node lacks the new one.',
    }),
    clockOffMs: Type.Integer({
      description:
        "Milliseconds by which the machine's clock is ahead of the database. The node goes by the time of the database.",
    }),
    chains: Type.Array(ChainState, { description: 'The configured networks. None of them makes the node unready.' }),
    remarks: Type.Array(Type.String(), {
      description:
        'Risks of the configuration, networks with open work that are not configured, and a wrong clock, in sentences.',
    }),
  },
  { title: 'Readiness' },
);
