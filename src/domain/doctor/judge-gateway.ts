import { isoText } from '../wait-words.ts';
import { countText, type Finding, fault, type Judged, remark, unknown, warning } from './diagnosis.ts';
import type {
  AlertFacts,
  LeaseFacts,
  NodeFacts,
  ProgramFacts,
  SchemaFacts,
  SecretFacts,
  SettingsFacts,
  WebhookFacts,
} from './facts.ts';

/** The lowest accepted version of Node: the one that `package.json` demands and the tests use. */
const LEAST_NODE = 24;

export function judgeProgram({ version, node, host, system }: ProgramFacts): Judged {
  const facts = [
    { name: 'Till', value: version },
    { name: 'Node', value: node },
    { name: 'machine', value: `${host}, ${system}` },
  ];
  const isOld = Number.parseInt(node.replace('v', ''), 10) < LEAST_NODE;
  const remedy = `Start it with the Node that it brings: \`node_modules/.bin/node\`.`;
  return { facts, findings: isOld ? [warning(`Node ${node} is older than ${LEAST_NODE}.`, remedy)] : [] };
}

export function judgeSettings({ changed, refusals, risks }: SettingsFacts): Judged {
  return {
    facts: changed.map(({ setting, value }) => ({ name: setting, value })),
    findings: [
      ...refusals.map((text) =>
        fault(`A node refuses to start with these settings: ${sentence(text)}`, 'Change the setting that it names.'),
      ),
      ...risks.map((text) => remark(sentence(text), 'See the production checks in docs/security.md.')),
    ],
  };
}

export function judgeSchema({ applied, missing, mismatch }: SchemaFacts): Judged {
  const last = applied.at(-1);
  const facts = [
    {
      name: 'migrations',
      value: last === undefined ? 'none' : `${countText(applied.length, 'migration')}, the last is ${last}`,
    },
  ];
  if (mismatch !== null) {
    const remedy = 'Run this command, and the nodes, with the version that migrated the database.';
    return { facts, findings: [fault(sentence(mismatch), remedy)] };
  }
  if (missing.length === 0) return { facts, findings: [] };
  const message = `${countText(missing.length, 'migration')} of this version ${missing.length === 1 ? 'is' : 'are'} missing: ${missing.join(', ')}.`;
  return { facts, findings: [fault(message, 'Run `till migrate`, or start a node whose role may change the schema.')] };
}

export function judgeSecret({ opens, nodes }: SecretFacts): Judged {
  const findings: Finding[] = [];
  if ('unknown' in opens) {
    const remedy = 'Run this with the TILL_SECRET or TILL_SECRET_FILE of a node.';
    findings.push(unknown(`Whether this machine has the right master secret is not known: ${opens.unknown}.`, remedy));
  } else if (opens.known === false) {
    const message = 'The secrets of the database were wrapped with another master secret than the one of this machine.';
    findings.push(
      fault(message, 'Set TILL_SECRET or TILL_SECRET_FILE to the master secret of the nodes of this database.'),
    );
  }
  for (const { host, id, knowsNewest } of nodes) {
    if (knowsNewest === true) continue;
    if (knowsNewest === null) {
      const message = `The node ${id} on ${host} does not say which master secret it has: its version is older.`;
      findings.push(unknown(message, 'Upgrade the node.'));
      continue;
    }
    const message = `The node ${id} on ${host} has another master secret than the database, and refuses valid keys.`;
    findings.push(fault(message, 'Give all nodes of one database the same TILL_SECRET, and restart this one.'));
  }
  const value =
    'unknown' in opens ? 'not known' : opens.known === null ? 'no node has stored one' : opens.known ? 'yes' : 'no';
  return { facts: [{ name: 'opens the database', value }], findings };
}

export function judgeNodes({ nodes, missingRoles }: NodeFacts): Judged {
  const facts = nodes.map(({ host, roles, startedAt, seenAt, isUp }) => ({
    name: host,
    value: isUp
      ? `up since ${isoText(startedAt.getTime())}, roles ${roles.join(', ')}`
      : `gone: last seen at ${isoText(seenAt.getTime())}`,
  }));
  if (!nodes.some(({ isUp }) => isUp)) {
    const findings = [
      fault('No node of this gateway runs.', 'Start one: see "Starting and stopping" in docs/operating.md.'),
    ];
    return { facts, findings };
  }
  if (missingRoles.length === 0) return { facts, findings: [] };
  const message = `No running node has the ${missingRoles.length === 1 ? 'role' : 'roles'} ${missingRoles.join(', ')}.`;
  return { facts, findings: [fault(message, `Start a node with \`--role ${missingRoles.join(',')}\`.`)] };
}

export function judgeLeases(leases: readonly LeaseFacts[]): Judged {
  const facts = leases.map(({ name, isHeld, holder, since }) => {
    const sinceText = since === null ? 'for more than 90 days' : `since ${isoText(since.getTime())}`;
    return { name, value: isHeld ? `${holder} ${sinceText}` : 'nobody' };
  });
  const free = leases.filter(({ isHeld, work }) => !isHeld && work !== null);
  if (free.length === 0) return { facts, findings: [] };
  const message = `No node does this work: ${free.map(({ work }) => work).join('; ')}.`;
  const remedy =
    'Start a node with these roles and networks. After the death of a node another one takes over in seconds.';
  return { facts, findings: [fault(message, remedy)] };
}

export function judgeAlerts(alerts: readonly AlertFacts[]): Judged {
  return {
    facts: [{ name: 'raised', value: alerts.length === 0 ? 'none' : String(alerts.length) }],
    findings: alerts.map(({ name, subject, message, since, runbook }) =>
      warning(`${name} (${subject}), since ${isoText(since.getTime())}: ${sentence(message)}`, `See ${runbook}.`),
    ),
  };
}

export function judgeWebhooks(endpoints: readonly WebhookFacts[]): Judged {
  return {
    facts: [{ name: 'endpoints that fail', value: endpoints.length === 0 ? 'none' : String(endpoints.length) }],
    findings: endpoints.map(({ id, partnerId, mode, origin, status, failingSince, waiting, problem }) => {
      const since = failingSince === null ? '' : ` since ${isoText(failingSince.getTime())}`;
      const why = problem === null ? '' : `; the last answer: ${problem}`;
      if (status === 'disabled') {
        const message = `The webhook endpoint ${id} of ${partnerId} (${mode}, ${origin}) failed${since} and is disabled${why}.`;
        return warning(message, 'Tell the partner. A `PATCH` of its status to "active" enables it again.');
      }
      const message = `The webhook endpoint ${id} of ${partnerId} (${mode}, ${origin}) has failed${since}; ${waits(waiting)}${why}.`;
      return warning(message, 'Tell the partner. Deliveries are tried for three days; then the endpoint is disabled.');
    }),
  };
}

/** The number of waiting deliveries in words. They are counted up to a thousand. */
function waits(waiting: number): string {
  if (waiting === 1) return '1 delivery waits';
  return `${waiting >= 1_000 ? 'a thousand deliveries or more' : `${waiting} deliveries`} wait`;
}

/** The text as a sentence: a capital at the start, and one full stop at the end. */
function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1).replace(/\.+$/, '')}.`;
}
