import { databaseFault } from './database.ts';
import { sqlState } from './session.ts';

const SERVER = 'See that the server runs, and that DATABASE_URL names it with the right user and password.';

interface Problem {
  readonly is: string;
  readonly remedy: string;
}

const REFUSED_CERTIFICATE: Problem = {
  is: 'The certificate of the database is refused',
  remedy: 'Name its authority by sslrootcert in DATABASE_URL, and the host as the certificate does.',
};

/** Known problems, by SQLSTATE or by the error code of a failed connection. */
const PROBLEMS: Readonly<Record<string, Problem>> = {
  '25006': { is: 'The database takes no writes', remedy: 'Name its primary in DATABASE_URL.' },
  '28000': {
    is: 'The database refuses the user',
    remedy: 'Correct the user in DATABASE_URL, or the rules in pg_hba.conf.',
  },
  '28P01': { is: 'The database refuses the password', remedy: 'Correct the password in DATABASE_URL.' },
  '3D000': { is: 'The database does not exist', remedy: 'Create it, or correct its name in DATABASE_URL.' },
  '42501': {
    is: 'The role of DATABASE_URL may not do this',
    remedy: 'Name the role that the nodes run as, or the owner of the tables.',
  },
  '53100': { is: 'The disk of the database is full', remedy: 'Free space there, and try again.' },
  '53300': {
    is: 'The database has no connection left',
    remedy: 'Lower DATABASE_POOL_SIZE, or raise max_connections of the server.',
  },
  CERT_HAS_EXPIRED: {
    is: 'The certificate of the database has expired',
    remedy: 'Renew it, and load it in the server.',
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: REFUSED_CERTIFICATE,
  SELF_SIGNED_CERT_IN_CHAIN: REFUSED_CERTIFICATE,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: REFUSED_CERTIFICATE,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: REFUSED_CERTIFICATE,
  ERR_TLS_CERT_ALTNAME_INVALID: REFUSED_CERTIFICATE,
};

/** A line for an operator that says why the database cannot be used, and what to do. Undefined for any other error. */
export function databaseProblem(error: unknown): string | undefined {
  const state = sqlState(error);
  const isRefused = state === '42501';
  if (!isRefused && databaseFault(error) !== 'unavailable') return undefined;
  const { message, cause } = error as Error;
  const code = state ?? (cause as NodeJS.ErrnoException | undefined)?.code ?? '';
  const { is, remedy } = PROBLEMS[code] ?? { is: 'The database is out of reach', remedy: SERVER };
  return `${is} (${message.replace(/\s+/g, ' ')}). ${remedy}`;
}
