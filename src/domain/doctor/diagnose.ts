import { type Diagnosis, type Judged, type Section, unknown, worstOf } from './diagnosis.ts';
import type { CheckName, DoctorFacts, Gathered } from './facts.ts';
import { judgeDatabase } from './judge-database.ts';
import {
  judgeAlerts,
  judgeLeases,
  judgeNodes,
  judgeProgram,
  judgeSchema,
  judgeSecret,
  judgeSettings,
  judgeWebhooks,
} from './judge-gateway.ts';
import { judgeAccounts, judgeCertificates, judgeClocks, judgeDisk, judgeNetworks } from './judge-outside.ts';
import { judgeReplica } from './judge-replica.ts';
import { judgeOwnUrl } from './judge-set-up.ts';

type Checks = {
  readonly [Name in CheckName]: {
    readonly title: string;
    readonly judge: (facts: DoctorFacts[Name]) => Judged;
    /** The remedy if the check could not be made. */
    readonly ifUnknown: string;
  };
};

const ASK_AGAIN = 'Run the command again, on a machine that reaches the database with the settings of a node.';

/** Every check, in the order of the report. */
const CHECKS: Checks = {
  program: { title: 'Program', judge: judgeProgram, ifUnknown: ASK_AGAIN },
  settings: {
    title: 'Settings',
    judge: judgeSettings,
    ifUnknown: 'Run `till config`, which names every problem of the settings.',
  },
  database: {
    title: 'Database',
    judge: judgeDatabase,
    ifUnknown: 'See that the server runs, and that DATABASE_URL names it with the right user and password.',
  },
  replica: { title: 'Read replica', judge: judgeReplica, ifUnknown: ASK_AGAIN },
  schema: { title: 'Schema', judge: judgeSchema, ifUnknown: ASK_AGAIN },
  secret: { title: 'Master secret', judge: judgeSecret, ifUnknown: ASK_AGAIN },
  nodes: { title: 'Nodes', judge: judgeNodes, ifUnknown: ASK_AGAIN },
  leases: { title: 'Leases', judge: judgeLeases, ifUnknown: ASK_AGAIN },
  clocks: { title: 'Clocks', judge: judgeClocks, ifUnknown: ASK_AGAIN },
  networks: {
    title: 'Networks',
    judge: judgeNetworks,
    ifUnknown: 'Run `till networks check`, which asks the endpoints alone.',
  },
  accounts: {
    title: 'Accounts',
    judge: judgeAccounts,
    ifUnknown: 'Look at their balances with an explorer of the network.',
  },
  alerts: { title: 'Alerts', judge: judgeAlerts, ifUnknown: 'Read the log of a node: alerts are logged as errors.' },
  webhooks: { title: 'Webhooks', judge: judgeWebhooks, ifUnknown: ASK_AGAIN },
  disk: { title: 'Disk', judge: judgeDisk, ifUnknown: 'Look at the free space of the machine by hand.' },
  publicUrl: { title: 'Public URL', judge: judgeOwnUrl, ifUnknown: 'Open PUBLIC_URL with a browser.' },
  certificates: {
    title: 'Certificates',
    judge: judgeCertificates,
    ifUnknown: 'Look at the certificate with a browser.',
  },
};

/** The findings about all gathered facts. A check that could not be made is a finding of the level `unknown`, and never `well`. */
export function diagnose(gathered: Gathered): Diagnosis {
  const sections = (Object.keys(CHECKS) as CheckName[]).map((check) => sectionOf(check, gathered));
  return { level: worstOf(sections.map(({ level }) => level)), sections };
}

function sectionOf<Name extends CheckName>(check: Name, gathered: Gathered): Section {
  const { title, judge, ifUnknown }: Checks[Name] = CHECKS[check];
  const asked: Gathered[Name] = gathered[check];
  const judged: Judged =
    'known' in asked
      ? judge(asked.known as DoctorFacts[Name])
      : { facts: [], findings: [unknown(`This could not be checked: ${asked.unknown}.`, ifUnknown)] };
  return { check, title, level: worstOf(judged.findings.map(({ level }) => level)), ...judged };
}
