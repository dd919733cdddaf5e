import { OtherMasterSecretError } from './actions/open-receipt-key.ts';
import { OtherIntermediateError, RetiredAccountError } from './actions/own-accounts.ts';
import { OtherRecordsError } from './actions/records/open-records.ts';
import { OtherSandboxChainError } from './actions/remember-sandbox-chain.ts';
import { MetricsListenError } from './http/metrics-server.ts';
import { TelemetryMissingError } from './runtime/telemetry.ts';
import { ChainStartError } from './sandbox/chain-process.ts';
import { NoPostgresError } from './sandbox/embedded-postgres.ts';
import { HomeInUseError } from './sandbox/home-lock.ts';
import { ScreeningListError } from './screening/follow-list.ts';
import { ChainSettingsError } from './settings/chains.ts';
import { EnvironmentFileError } from './settings/environment.ts';
import { MasterSecretError } from './settings/master-secret.ts';
import { databaseProblem } from './store/plumbing/database-problem.ts';
import { SchemaMismatchError } from './store/plumbing/migrate.ts';

/** Errors whose message is enough for the operator. */
const EXPECTED = [
  ChainSettingsError,
  ChainStartError,
  EnvironmentFileError,
  HomeInUseError,
  MasterSecretError,
  MetricsListenError,
  NoPostgresError,
  OtherIntermediateError,
  RetiredAccountError,
  OtherMasterSecretError,
  OtherRecordsError,
  OtherSandboxChainError,
  SchemaMismatchError,
  ScreeningListError,
  TelemetryMissingError,
];

/** The remedies for faults of the machine, by the error code of the system. */
const REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'Set PORT to a free port.',
  EADDRNOTAVAIL: 'Set HOST to an address of this machine.',
  ENOSPC: 'Free space on that disk, and start again.',
  EDQUOT: 'Free space on that disk, and start again.',
  EROFS: 'Set TILL_HOME to a folder that can be written.',
};

/** The message of a node that does not start: one line with what to do. Only an unexpected error has its stack. */
export function startRefusal(error: unknown): string {
  if (EXPECTED.some((kind) => error instanceof kind)) return (error as Error).message;
  const problem = databaseProblem(error);
  if (problem !== undefined) return problem;
  const { code = '', syscall, message = String(error), stack } = error as NodeJS.ErrnoException;
  const remedy = code === 'EACCES' ? rightsRemedy(syscall) : REMEDIES[code];
  return remedy === undefined ? (stack ?? message) : `${message}. ${remedy}`;
}

function rightsRemedy(syscall: string | undefined): string {
  return syscall === 'listen'
    ? 'Set PORT to one that this account may use, such as 8080.'
    : 'Give this account the right, and start again.';
}
