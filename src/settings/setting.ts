import type { Kind } from './kinds.ts';

export interface Setting<T> {
  readonly env: string;
  readonly kind: Kind<T>;
  readonly default: T | undefined;
  readonly doc: string;
  /** The behaviour of the gateway without the setting, in words. Set if the default is not a plain value. */
  readonly defaultDoc: string | undefined;
}

export function setting<const T, const D extends T | undefined>(
  env: string,
  kind: Kind<T>,
  fallback: D,
  doc: string,
  defaultDoc?: string,
) {
  return { env, kind, default: fallback, doc, defaultDoc } as Omit<Setting<T>, 'default'> & { default: D };
}
