import { OtherMasterSecretError } from '../actions/open-receipt-key.ts';
import { ApiError, type ErrorCode, type Issue } from '../errors.ts';
import { NoPostgresError } from '../sandbox/embedded-postgres.ts';
import { HomeInUseError } from '../sandbox/home-lock.ts';
import { ShopperError } from '../sandbox/shopper.ts';
import { ScreeningListError } from '../screening/follow-list.ts';
import { ChainSettingsError } from '../settings/chains.ts';
import { MasterSecretError } from '../settings/master-secret.ts';
import { databaseProblem } from '../store/plumbing/database-problem.ts';
import { SchemaMismatchError } from '../store/plumbing/migrate.ts';
import { UsageError } from './command-line.ts';
import { helpCall } from './help.ts';

export interface Failure {
  readonly exitCode: 1 | 2;
  readonly code: ErrorCode;
  readonly message: string;
  readonly problems: readonly string[];
  readonly advice?: string;
}

export class ConfigurationError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super('The configuration is invalid');
    this.name = 'ConfigurationError';
    this.problems = problems;
  }
}

/** Errors whose message alone tells the operator what to do. They are reported with the code `invalid_state`. */
const REFUSALS = [
  HomeInUseError,
  NoPostgresError,
  OtherMasterSecretError,
  SchemaMismatchError,
  ScreeningListError,
  ShopperError,
];

export function describeFailure(error: unknown): Failure {
  if (error instanceof UsageError) return describeUsage(error);
  if (error instanceof ConfigurationError) return wrong(error.message, error.problems);
  if (error instanceof ApiError) return failed(error.code, error.message, error.issues);
  if (error instanceof ChainSettingsError || error instanceof MasterSecretError)
    return wrong('The configuration is invalid', [error.message]);
  if (REFUSALS.some((kind) => error instanceof kind)) return failed('invalid_state', (error as Error).message);
  const { code, message } = error as NodeJS.ErrnoException;
  // If all addresses of a host refuse a connection, the error has a code and an empty message. Then the code is printed.
  return failed('internal_error', databaseProblem(error) ?? (message || code || String(error)));
}

function describeUsage({ problems, topic }: UsageError): Failure {
  const advice = `See ${helpCall(topic)}`;
  const [first = ''] = problems;
  if (typeof topic !== 'object') return { exitCode: 2, code: 'invalid_params', message: first, problems: [], advice };
  return { ...wrong(`This is not how "${topic.name}" is used`, problems), advice };
}

function wrong(message: string, problems: readonly string[]): Failure {
  return { exitCode: 2, code: 'params_validation', message, problems };
}

function failed(code: ErrorCode, message: string, issues: readonly Issue[] = []): Failure {
  return { exitCode: 1, code, message, problems: issues.map((issue) => `${issue.field} ${issue.message}`) };
}
