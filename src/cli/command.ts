import type { Registry } from '../chains/registry.ts';
import type { Config } from '../settings/config.ts';
import { type Context, type OperatorDeps, withDatabase } from './connect.ts';
import type { Options, Values } from './options.ts';

/** One operator command. The parser, the help and the overview are generated from it. */
export interface Command extends Definition<Options, Options, Context> {
  readonly positionals: Options;
  readonly options: Options;
}

type None = Readonly<Record<never, never>>;

interface Definition<P extends Options, O extends Options, D> {
  /** The words that call the command, such as `keys rotate`. */
  readonly name: string;
  readonly summary: string;
  readonly positionals?: P;
  readonly options?: O;
  /** Examples, without the leading `npm run till --`. */
  readonly examples: readonly [string, ...string[]];
  /** False for `init`, which writes the settings: it runs even if they are invalid, and then with the default configuration. */
  readonly readsSettings?: false;
  /** True for commands that use the database's time, which is not known before the command has a connection. */
  readonly usesDatabaseTime?: true;
  /** Finds contradictions between values that are valid by themselves. */
  readonly check?: (values: Values<P> & Values<O>, registry: Registry) => string[];
  readonly run: (deps: D, values: Values<P> & Values<O>) => Promise<Output>;
}

export interface Output {
  /** The result as JSON, printed with `--json`. */
  readonly json: unknown;
  /** The result as text, printed without `--json`. */
  readonly text: string;
  /** A message in addition to the result, printed on standard error. */
  readonly note?: string | undefined;
  /** The exit code: 0 by default, 1 if the result contains a problem. Only `doctor` returns 3: for findings of the level `fault`. */
  readonly exitCode?: 0 | 1 | 3;
}

const OPERATOR = 'operator';

/** The actor in the audit log, with the name from the environment. The name is not verified. */
export function operatorOf({ operatorName }: Pick<Config, 'operatorName'>): string {
  return operatorName === undefined ? OPERATOR : `${OPERATOR}:${operatorName} (self-declared)`;
}

export function command<P extends Options = None, O extends Options = None>(
  definition: Definition<P, O, Context>,
): Command {
  return { positionals: {}, options: {}, ...definition } as unknown as Command;
}

export function databaseCommand<P extends Options = None, O extends Options = None>(
  definition: Definition<P, O, OperatorDeps>,
): Command {
  return command({
    ...definition,
    usesDatabaseTime: true,
    // The line is parsed again with the database's time, as nodes use it: the clock of this machine may be wrong.
    run: (context) =>
      withDatabase(context, (deps) =>
        definition.run(deps, context.valuesAt(deps.world.clock.nowMs()) as Values<P> & Values<O>),
      ),
  });
}
