import type { Kind } from './kinds.ts';

/** A setting: its environment variable, the type of its values, and its meaning. */
export interface Setting<T> {
  readonly env: string;
  readonly kind: Kind<T>;
  readonly default: T | undefined;
  readonly doc: string;
  /** The behaviour without a value, in words, where the default is not a plain value. */
  readonly defaultDoc: string | undefined;
}

/** A row of the settings table. */
export function setting<const T, const D extends T | undefined>(
  env: string,
  kind: Kind<T>,
  fallback: D,
  doc: string,
  defaultDoc?: string,
) {
  return { env, kind, default: fallback, doc, defaultDoc } as Omit<Setting<T>, 'default'> & { default: D };
}
