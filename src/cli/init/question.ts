import type { Registry } from '../../chains/registry.ts';
import { SETTINGS } from '../../settings/config.ts';
import { type Kind, Problem, quote } from '../../settings/kinds.ts';
import type { Setting } from '../../settings/setting.ts';

/** A question of the set-up. Prompts, answers files and the help are made from it. */
export interface Question {
  /**
   * The name of the question in answers files and messages: the name of a setting, or a word of our own. For a question that is
   * asked once for each network or field, the network or the field follows as a second word, such as `RPC_URLS eip155:8453`.
   */
  readonly id: string;
  /** A short sentence for the prompt. */
  readonly words: string;
  readonly how:
    | { readonly is: 'text' }
    /** The answer is not shown while it is typed. */
    | { readonly is: 'hidden' }
    | { readonly is: 'choice'; readonly options: readonly Choice[] }
    | { readonly is: 'several'; readonly options: readonly Choice[] };
  /** True if the answer is never shown, not even as a suggestion. */
  readonly isSecret: boolean;
  readonly isOptional: boolean;
  /** The answer that is used if nothing is entered. Undefined if the question must be answered. */
  readonly fallback: string | undefined;
  /** A description of `fallback` for the prompt, if the value does not explain itself. */
  readonly fallbackWords?: string;
  /** Returns the valid answer, or a problem. In messages, the text of the problem follows the name of the question: "PORT must be …". */
  readonly read: (raw: string, registry: Registry) => string | Problem;
  readonly check: CheckName | undefined;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** The name of a live check. Questions name their checks, so that the list of questions is plain data. */
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

/** A question for the value of a setting. Its default, its parser and its secrecy are those of the setting. */
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

/** Extends the parser of an answer: it also accepts the word `make`, which asks the set-up to create the key or secret. */
export function orMade(read: Question['read']): Question['read'] {
  return (raw, registry) => (raw === MAKE ? raw : read(raw, registry));
}

export function isSetting(id: string): boolean {
  return Object.values(SETTINGS).some(({ env }) => env === id);
}
