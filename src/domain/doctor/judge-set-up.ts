import { type Finding, fault, type Judged, warning } from './diagnosis.ts';
import type { PublicUrlAnswer, PublicUrlFacts } from './facts.ts';

/** The rights of the role that changes the schema. */
export interface DatabaseRights {
  readonly role: string;
  readonly database: string;
  /** The schema of new tables. Null if there is none that the role may use. */
  readonly schema: string | null;
  readonly mayCreate: boolean;
  /** The state of the extension `pg_trgm`. `missing`: it can be created. `unavailable`: the server does not have its files. */
  readonly trigrams: 'there' | 'missing' | 'unavailable';
  readonly mayExtend: boolean;
}

/**
 * Judges the rights of the role that migrates: it must be able to create tables, and also the extension `pg_trgm` if that does
 * not exist.
 */
export function judgeRights({ role, database, schema, mayCreate, trigrams, mayExtend }: DatabaseRights): Finding[] {
  if (schema === null || !mayCreate) {
    const place = schema === null ? `the database ${database}` : `the schema ${schema} of the database ${database}`;
    const grant =
      schema === null ? `\`CREATE SCHEMA AUTHORIZATION ${role}\`` : `\`GRANT CREATE ON SCHEMA ${schema} TO ${role}\``;
    return [
      fault(
        `The role ${role} may not create tables in ${place}.`,
        `Run ${grant} as its owner, or name the role that owns the tables in DATABASE_MIGRATE_URL.`,
      ),
    ];
  }
  if (trigrams === 'unavailable') {
    return [
      fault(
        'The server does not have the extension pg_trgm.',
        'Install the package of PostgreSQL with its extensions, on Debian postgresql-contrib.',
      ),
    ];
  }
  if (trigrams === 'missing' && !mayExtend) {
    return [
      fault(
        `The extension pg_trgm is missing in the database ${database}, and the role ${role} may not create it.`,
        'Run `CREATE EXTENSION pg_trgm` in the database as a superuser.',
      ),
    ];
  }
  return [];
}

export interface PublicUrlPlace {
  readonly publicUrl: string;
  /** The target to which the URL must lead: a host with its port, or the nodes. */
  readonly place: string;
  /** The command that repeats this check. */
  readonly command: 'till init' | 'till doctor';
}

export function judgePublicUrl(answer: PublicUrlAnswer, { publicUrl, place, command }: PublicUrlPlace): Finding[] {
  if (answer.is === 'here') return [];
  if (answer.is === 'silent') {
    return [
      warning(
        `Nothing answers at PUBLIC_URL (${publicUrl}) yet: ${answer.reason}.`,
        `Let its name and its proxy lead to ${place}, then run \`${command}\` again: it asks once more.`,
      ),
    ];
  }
  if (answer.is === 'proxy_alone') {
    return [
      warning(
        `The proxy of PUBLIC_URL (${publicUrl}) answers with status ${answer.status}: it does not reach ${place}.`,
        `Let it lead to ${place}, or set HOST to an address that it reaches; then run \`${command}\` again.`,
      ),
    ];
  }
  const { status, location } = answer;
  const what =
    location === undefined ? `another program answers there, with status ${status}` : `it leads to ${location}`;
  return [
    fault(
      `PUBLIC_URL (${publicUrl}) leads elsewhere: ${what}.`,
      `Set PUBLIC_URL to the origin whose proxy leads to ${place}, or let this one lead there.`,
    ),
  ];
}

/** Judges the public URL of a gateway that is set up: the URL must lead to a node of this gateway. */
export function judgeOwnUrl(facts: PublicUrlFacts | null): Judged {
  if (facts === null) return { facts: [{ name: 'PUBLIC_URL', value: 'not set' }], findings: [] };
  const { publicUrl, answer } = facts;
  const value = answer.is === 'here' ? 'leads to this gateway' : 'does not lead to this gateway';
  const findings = judgePublicUrl(answer, { publicUrl, place: 'a node of this gateway', command: 'till doctor' });
  return { facts: [{ name: publicUrl, value }], findings };
}

/**
 * Judges whether the proxy is trusted. If it is not, all payers share one rate limit, because all requests have the proxy's
 * address.
 */
export function judgeProxy(answer: PublicUrlAnswer | undefined, isTrusted: (peer: string) => boolean): Finding[] {
  if (answer?.is !== 'here' || !answer.hasForwardedFor || isTrusted(answer.peer)) return [];
  return [
    warning(
      `Requests to PUBLIC_URL come through a proxy at ${answer.peer}, which TRUST_PROXY does not name: all payers share its rate limit.`,
      `Add ${answer.peer} to TRUST_PROXY.`,
    ),
  ];
}
