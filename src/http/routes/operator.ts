import { Type } from 'typebox';
import { NODE_GONE_MS } from '../../actions/announce-node.ts';
import { surveyNetworks } from '../../actions/oversight/survey-networks.ts';
import { runbookOf } from '../../domain/alert.ts';
import { unshifted } from '../../runtime/shifted-clock.ts';
import { listFreezes } from '../../store/parties/freezes.ts';
import { listPartners } from '../../store/parties/partners.ts';
import { listAlerts } from '../../store/plumbing/alerts.ts';
import { listLeases } from '../../store/plumbing/leases.ts';
import { listNodes } from '../../store/plumbing/nodes.ts';
import type { App, HttpDeps } from '../deps.ts';
import { callerRights } from '../entry/caller.ts';
import { nullable, Timestamp } from '../schemas.ts';
import { ExaminationBody, viewExamination } from '../views/examination.ts';
import { NetworkBody, viewNetwork } from '../views/network-state.ts';

/** Operators make changes only by commands, so these routes only read. */
const READ = { scheme: 'person', scope: 'operator:read' } as const;
const CONFIG = { access: READ, priority: 'spare' } as const;

export async function operatorRoutes(app: App, deps: HttpDeps): Promise<void> {
  app.get('/v1/operator/partners', { schema: PARTNERS, config: CONFIG }, async (request, reply) => {
    const partners = await deps.lists.read(callerRights(request).id, reply, listPartners);
    return { partners: partners.map(({ id, name, disabledAt }) => ({ id, name, isDisabled: disabledAt !== null })) };
  });

  app.get('/v1/operator/status', { schema: STATUS, config: CONFIG }, (request, reply) =>
    deps.lists.read(callerRights(request).id, reply, async (db) => {
      const nowMs = unshifted(deps.world.clock).nowMs();
      const nodes = await listNodes(db);
      const leases = await listLeases(db);
      const alerts = await listAlerts(db);
      const freezes = await listFreezes(db);
      return {
        nodes: nodes.map(({ id, host, roles, startedAt, seenAt }) => ({
          id,
          host,
          roles: [...roles],
          startedAt: startedAt.toISOString(),
          seenAt: seenAt.toISOString(),
          isUp: nowMs - seenAt.getTime() < NODE_GONE_MS,
        })),
        leases: leases
          .map(({ name, until }) => ({ name, isHeld: until.getTime() > nowMs, until: until.toISOString() }))
          .sort((a, b) => a.name.localeCompare(b.name, 'en')),
        alerts: alerts.map(({ since, lastSeen, ...alert }) => ({
          ...alert,
          since: since.toISOString(),
          lastSeen: lastSeen.toISOString(),
          runbook: runbookOf(alert.name),
        })),
        freezes: freezes.map(({ since, ...freeze }) => ({ ...freeze, since: since.toISOString() })),
      };
    }),
  );

  app.get('/v1/operator/networks', { schema: NETWORKS, config: CONFIG }, async () => {
    const networks = await surveyNetworks({ ...deps, clock: deps.world.clock });
    const alerts = await listAlerts(deps.db.sql);
    return { networks: networks.map((network) => viewNetwork(network, alerts)) };
  });

  app.get('/v1/operator/examination', { schema: EXAMINATION, config: CONFIG }, async () =>
    viewExamination(await deps.examine()),
  );
}

const TAGS = ['Operator'];

const PARTNERS = {
  tags: TAGS,
  operationId: 'listPartners',
  summary: 'List partners',
  description: 'A person of the operator names one of them in the header `Partner-Id` of other routes.',
  response: {
    200: Type.Object(
      {
        partners: Type.Array(
          Type.Object({ id: Type.String(), name: Type.String(), isDisabled: Type.Boolean() }, { title: 'Partner' }),
        ),
      },
      { description: 'All partners, the oldest first.' },
    ),
  },
};

const STATUS = {
  tags: TAGS,
  operationId: 'getGatewayState',
  summary: 'Get the state of the gateway',
  description: 'The nodes, the leases, the alerts that are raised, and the freezes.',
  response: {
    200: Type.Object(
      {
        nodes: Type.Array(
          Type.Object(
            {
              id: Type.String({ description: 'A random name of the process.' }),
              host: Type.String(),
              roles: Type.Array(Type.String()),
              startedAt: Timestamp,
              seenAt: Timestamp,
              isUp: Type.Boolean({ description: 'False: not seen for 30 seconds. It is forgotten after an hour.' }),
            },
            { title: 'GatewayNode' },
          ),
        ),
        leases: Type.Array(
          Type.Object(
            {
              name: Type.String({ description: 'The work that one node does at a time.' }),
              isHeld: Type.Boolean({ description: 'False: no node does it.' }),
              until: Timestamp,
            },
            { title: 'Lease' },
          ),
        ),
        alerts: Type.Array(
          Type.Object(
            {
              name: Type.String(),
              subject: Type.String(),
              message: Type.String(),
              since: Timestamp,
              lastSeen: Timestamp,
              runbook: Type.String({ description: 'The place in the documentation that says what to do.' }),
            },
            { title: 'Alert' },
          ),
        ),
        freezes: Type.Array(
          Type.Object(
            {
              scope: Type.String(),
              subject: Type.String(),
              reason: Type.String(),
              actor: nullable(Type.String()),
              since: Timestamp,
            },
            { title: 'Freeze' },
          ),
        ),
      },
      { title: 'GatewayState', description: 'The state.' },
    ),
  },
};

const NETWORKS = {
  tags: TAGS,
  operationId: 'getNetworkStates',
  summary: 'Get the state of the networks',
  description: 'As this node sees them. Balances are asked of the chains.',
  response: { 200: Type.Object({ networks: Type.Array(NetworkBody) }, { description: 'The configured networks.' }) },
};

const EXAMINATION = {
  tags: TAGS,
  operationId: 'getExamination',
  summary: 'Examine the gateway',
  description:
    'Everything that `till doctor` examines, as the node that answers sees it, with secrets struck out. It asks every endpoint, the public URL and the database, which may take 30 seconds. An examination of the last 20 seconds is shown again.',
  response: { 200: ExaminationBody },
};
