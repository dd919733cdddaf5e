import type { Registry } from '../../chains/registry.ts';
import { SETTINGS } from '../../settings/config.ts';
import { type Kind, Problem, quote } from '../../settings/kinds.ts';
import type { Setting } from '../../settings/setting.ts';

/** A question of the set-up. Prompts, answer files and the help are made from it. */
export interface Question {
  /** Its name in answer files and messages: the setting, or a word of our own. A second word is a network or a field. */
  readonly id: string;
  /** A short sentence for the prompt. */
  readonly words: string;
  readonly how:
    | { readonly is: 'text' }
    /** The answer is not shown while it is typed. */
    | { readonly is: 'hidden' }
    | { readonly is: 'choice'; readonly options: readonly Choice[] }
    | { readonly is: 'several'; readonly options: readonly Choice[] };
  /** True if the answer is never shown, also not as a suggestion. */
  readonly isSecret: boolean;
  readonly isOptional: boolean;
  /** The answer that is used if nothing is entered. Undefined if the question must be answered. */
  readonly fallback: string | undefined;
  /** `fallback` in words, if it is no plain value. */
  readonly fallbackWords?: string;
  /** The valid answer, or a problem that completes the sentence "PORT …". */
  readonly read: (raw: string, registry: Registry) => string | Problem;
  readonly check: CheckName | undefined;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** The live checks, by name, so that the list of questions is data. */
export type CheckName =
  | 'database'
  | 'rights'
  | 'secret'
  | 'public-url'
  | 'proxy'
  | 'endpoints'
  | 'signer'
  | 'relayers'
  | 'intermediate'
  | 'rates'
  | 'screening'
  | 'mail';

/** The answer that asks for a new key or secret. */
export const MAKE = 'make';
/** The answer that leaves an optional setting unset, or removes it. */
export const NONE = 'none';

export type SettingName = keyof typeof SETTINGS;

type Extras = Partial<Pick<Question, 'how' | 'isOptional' | 'fallback' | 'fallbackWords' | 'check' | 'read'>>;

/** A question for the value of a setting. Its explanation is that of the setting. */
export function settingQuestion(name: SettingName, words: string, extras: Extras = {}): Question {
  const { env, kind, default: fallback } = SETTINGS[name] as Setting<unknown>;
  return {
    id: env,
    words,
    how: { is: 'text' },
    isSecret: kind.secretsOf !== undefined,
    isOptional: false,
    fallback: fallback === undefined || Array.isArray(fallback) ? undefined : String(fallback),
    read: byKind(kind),
    check: undefined,
    ...extras,
  };
}

export function byKind(kind: Kind<unknown>): Question['read'] {
  return (raw, registry) => {
    const value = kind.parse(raw, registry);
    if (!(value instanceof Problem)) return raw;
    return kind.secretsOf !== undefined ? value : new Problem(`${value.text} (it is ${quote(raw)})`);
  };
}

/** Extends the reader of an answer: it also accepts the word `make`, which asks the set-up to create the secret. */
export function orMade(read: Question['read']): Question['read'] {
  return (raw, registry) => (raw === MAKE ? raw : read(raw, registry));
}

export function isSetting(id: string): boolean {
  return Object.values(SETTINGS).some(({ env }) => env === id);
}
