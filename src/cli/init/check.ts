import type { Registry } from '../../chains/registry.ts';
import { redactApiKeys } from '../../domain/api-key.ts';
import type { Finding } from '../../domain/doctor/diagnosis.ts';
import type { PublicUrlAnswer } from '../../domain/doctor/facts.ts';
import { strikeSecrets } from '../../runtime/log.ts';
import type { Config } from '../../settings/config.ts';
import type { EnvValues } from '../../settings/env-file.ts';
import { readConfig } from '../../settings/read-config.ts';
import { secretValues } from '../../settings/secret-values.ts';
import type { Context } from '../connect.ts';
import type { Question } from './question.ts';
import type { Answers } from './questions.ts';

export interface CheckInput {
  readonly context: Context;
  readonly question: Question;
  /** All answers so far, including the answer to check. */
  readonly answers: Answers;
  readonly registry: Registry;
  readonly seen: Seen;
}

/** Facts that earlier checks have found out. */
export interface Seen {
  /** Milliseconds by which the clock of this machine is ahead of the database's clock. */
  readonly machineOffMs?: number;
  readonly publicUrl?: PublicUrlAnswer;
}

export interface Checked {
  /** Facts about the answer for the operator, in lines. */
  readonly said: readonly string[];
  readonly findings: readonly Finding[];
  /** True if the answer cannot be used: the question is asked again. */
  readonly isRefused: boolean;
  readonly seen?: Seen;
}

export type Check = (input: CheckInput) => Promise<Checked>;

/**
 * The result of a check. A finding of the level `fault` refuses the answer. The other findings are shown at the end, except
 * remarks.
 */
export function checked(findings: readonly Finding[], said: readonly string[] = [], seen: Seen = {}): Checked {
  return {
    said,
    findings: findings.filter(({ level }) => level !== 'remark'),
    isRefused: findings.some(({ level }) => level === 'fault'),
    seen,
  };
}

/** The configuration from these settings alone. Undefined if they are invalid or contradict each other. */
export function configOf(values: EnvValues): Config | undefined {
  const read = readConfig(values);
  return 'config' in read ? read.config : undefined;
}

/** Returns a function that masks the secrets of these settings in texts of other programs, such as error messages. */
export function strikerOf(values: EnvValues): (text: string) => string {
  const config = configOf(values);
  const secrets = config === undefined ? [] : secretValues(config);
  return (text) => strikeSecrets(redactApiKeys(text), secrets);
}
