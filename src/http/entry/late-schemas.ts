import { createRequire } from 'node:module';
import type { FastifySchemaControllerOptions } from 'fastify/types/schema.js';

/** A function of a compiled schema: it validates or serialises. Validators keep the errors of their last call. */
interface Compiled {
  (data: unknown): unknown;
  errors?: unknown;
}
type Build = (...input: unknown[]) => (route: unknown) => Compiled;

// The framework's own compilers, in the versions that it brings.
const requireByFastify = createRequire(import.meta.resolve('fastify'));
const buildValidator: Build = requireByFastify('@fastify/ajv-compiler')();
const buildSerializer: Build = requireByFastify('@fastify/fast-json-stringify-compiler')();

/**
 * Compiles each schema when a request first needs it. Compiling all of them took half of the processor time of a
 * node's start.
 */
export const LATE_SCHEMAS = {
  compilersFactory: { buildValidator: late(buildValidator), buildSerializer: late(buildSerializer) },
} as FastifySchemaControllerOptions;

function late(build: Build): Build {
  return (...input) => {
    const compile = build(...input);
    return (route) => {
      let compiled: Compiled | undefined;
      const run: Compiled = (data) => {
        compiled ??= compile(route);
        const result = compiled(data);
        run.errors = compiled.errors;
        return result;
      };
      return run;
    };
  };
}
