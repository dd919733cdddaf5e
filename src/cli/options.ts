import type { Registry } from '../chains/registry.ts';
import { quote } from '../settings/kinds.ts';
import { type Kind, Problem } from './kinds.ts';

/** An option or argument of a command: its description, and how its value is parsed. */
export interface Option<T> {
  readonly doc: string;
  /** The name of the value in help. Undefined for a flag, which takes no value. */
  readonly placeholder: string | undefined;
  readonly isRequired: boolean;
  readonly isRepeatable: boolean;
  /** Parses the typed values, in order. In messages, the text of a problem follows the name of the option: "--name must be …". */
  readonly read: (raws: readonly string[], nowMs: number, registry: Registry) => Read<T>;
}

type Read<T> = { readonly value: T } | { readonly problems: readonly string[] };

export type Options = Readonly<Record<string, Option<unknown>>>;

export type Values<O extends Options> = { readonly [Name in keyof O]: O[Name] extends Option<infer T> ? T : never };

export function required<T>(kind: Kind<T>, doc: string): Option<T> {
  return {
    ...single(kind, doc, true),
    read: (raws, nowMs, registry) =>
      raws.length === 0 ? { problems: ['is missing'] } : readOne(kind, raws, nowMs, registry),
  };
}

export function optional<T>(kind: Kind<T>, doc: string): Option<T | undefined> {
  return {
    ...single(kind, doc, false),
    read: (raws, nowMs, registry) => (raws.length === 0 ? { value: undefined } : readOne(kind, raws, nowMs, registry)),
  };
}

export function withDefault<T>(kind: Kind<T>, fallback: string, doc: string): Option<T> {
  return {
    ...single(kind, `${doc} Default: ${fallback}.`, false),
    read: (raws, nowMs, registry) => readOne(kind, raws.length === 0 ? [fallback] : raws, nowMs, registry),
  };
}

/** An option that may be given up to `most` times. Equal values count once. */
export function repeated<T>(kind: Kind<T>, most: number, doc: string): Option<readonly T[]> {
  return {
    doc,
    placeholder: kind.placeholder,
    isRequired: false,
    isRepeatable: true,
    read: (raws, nowMs, registry) => {
      const reads = [...new Set(raws)].map((raw) => readOne(kind, [raw], nowMs, registry));
      const problems = reads.flatMap((read) => ('problems' in read ? read.problems : []));
      if (reads.length > most) problems.push(`may be given at most ${most} times`);
      return problems.length > 0
        ? { problems }
        : { value: reads.flatMap((read) => ('value' in read ? [read.value] : [])) };
    },
  };
}

export function flag(doc: string): Option<boolean> {
  return {
    doc,
    placeholder: undefined,
    isRequired: false,
    isRepeatable: false,
    read: (raws) => ({ value: raws.length > 0 }),
  };
}

function single<T>(kind: Kind<T>, doc: string, isRequired: boolean) {
  return { doc, placeholder: kind.placeholder, isRequired, isRepeatable: false };
}

function readOne<T>(kind: Kind<T>, raws: readonly string[], nowMs: number, registry: Registry): Read<T> {
  const [raw = '', ...more] = raws;
  if (more.length > 0) return { problems: ['may be given only once'] };
  const value = kind.parse(raw, nowMs, registry);
  return value instanceof Problem ? { problems: [`${value.text} (it is ${quote(raw)})`] } : { value };
}
