import { createRequire } from 'node:module';
import type { FastifyServerOptions } from 'fastify';

type SchemaController = NonNullable<FastifyServerOptions['schemaController']>;
type Selector = (...args: readonly unknown[]) => (route: { readonly schema: unknown }) => unknown;

/** Fastify's own compilers, but each schema is compiled once for all gateways of this process. */
export const SHARED_COMPILERS = {
  compilersFactory: {
    buildValidator: shared('@fastify/ajv-compiler'),
    buildSerializer: shared('@fastify/fast-json-stringify-compiler'),
  },
} as SchemaController;

function shared(compiler: string): Selector {
  const requireAsFastify = createRequire(createRequire(import.meta.url).resolve('fastify'));
  const compilers = new Map<string, ReturnType<Selector>>();
  const compiled = new Map<string, unknown>();
  return (...args) => {
    const own = JSON.stringify(args);
    const compile = compilers.get(own) ?? (requireAsFastify(compiler)() as Selector)(...args);
    compilers.set(own, compile);
    return (route) => {
      const key = `${own} ${JSON.stringify(route.schema)}`;
      const known = compiled.get(key) ?? compile(route);
      compiled.set(key, known);
      return known;
    };
  };
}
