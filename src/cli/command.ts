import type { Config } from '../settings/config.ts';
import { type Context, type OperatorDeps, withDatabase } from './connect.ts';
import type { Options, Values } from './options.ts';

/** One operator command: parsing, help and the overview are all made of this. */
export interface Command<P extends Options = Options, O extends Options = Options, D = Context> {
  /** The words that call it, such as `keys rotate`. */
  readonly name: string;
  readonly summary: string;
  readonly positionals: P;
  readonly options: O;
  /** An example, as typed after `npm run till --`. */
  readonly examples: readonly [string, ...string[]];
  /** Problems of values that are valid alone and contradict each other. */
  readonly check?: (values: Values<P> & Values<O>) => string[];
  readonly run: (deps: D, values: Values<P> & Values<O>) => Promise<Output>;
}

export interface Output {
  /** With `--json`. */
  readonly json: unknown;
  /** Without. */
  readonly text: string;
  /** A note beside the result, on standard error. */
  readonly note?: string | undefined;
  /** 1 for a result that reports a problem. */
  readonly exitCode?: 0 | 1;
}

/** The actor in the audit log. */
const OPERATOR = 'operator';

/** The same, with the name that the environment gives. It is what the operator says, and nobody checks it. */
export function operatorOf({ operatorName }: Pick<Config, 'operatorName'>): string {
  return operatorName === undefined ? OPERATOR : `${OPERATOR}:${operatorName} (self-declared)`;
}

export function command<P extends Options, O extends Options>(definition: Command<P, O>): Command {
  return definition as unknown as Command;
}

/** A command that works on the gateway's database. */
export function databaseCommand<P extends Options, O extends Options>(
  definition: Command<P, O, OperatorDeps>,
): Command {
  return command({
    ...definition,
    // Read again: the clock of this machine may be wrong, and the nodes go by the time of the database.
    run: (context) =>
      withDatabase(context, (deps) =>
        definition.run(deps, context.valuesAt(deps.world.clock.nowMs()) as Values<P> & Values<O>),
      ),
  });
}
