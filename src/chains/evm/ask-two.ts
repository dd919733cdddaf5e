import { type Statement, weigh } from '../../domain/quorum.ts';
import { ChainUnavailableError } from '../chain-errors.ts';
import type { Endpoint } from './endpoint.ts';
import { askingOnly, type EvmContext } from './evm-context.ts';

/** An endpoint, and a context whose calls go to this endpoint alone. */
export interface Asked {
  readonly endpoint: Endpoint;
  readonly context: EvmContext;
}

/** The answer of a network's endpoints about one fact, and how many endpoints gave it. */
export type Word =
  /** At least two endpoints gave this answer, and fewer gave any other; or the only configured endpoint gave it. */
  | { readonly is: 'agreed'; readonly value: string }
  /** One endpoint gave this answer, and no other endpoint gave any. */
  | { readonly is: 'alone'; readonly value: string; readonly answers: string }
  | { readonly is: 'disputed'; readonly answers: string }
  | { readonly is: 'silence'; readonly error: ChainUnavailableError };

export function eachEndpoint(context: EvmContext): readonly Asked[] {
  return context.rpc.inOrder().map((endpoint) => ({ endpoint, context: askingOnly(context, endpoint) }));
}

/**
 * Asks two endpoints about a fact, and the others only if those two do not agree. An endpoint that two others contradict is asked
 * last from then on.
 */
export async function askTwo(
  endpoints: readonly Asked[],
  ask: (context: EvmContext) => Promise<string>,
): Promise<Word> {
  const rule = { endpoints: endpoints.length, isTrustedAlone: false };
  const errors: ChainUnavailableError[] = [];
  const say = (some: readonly Asked[]) =>
    Promise.all(
      some.map(async ({ endpoint, context }): Promise<Statement<string>> => {
        const answer = await ask(context).catch((error: unknown) => {
          if (!(error instanceof ChainUnavailableError)) throw error;
          errors.push(error);
          return undefined;
        });
        return { by: endpoint.name, answer, silentForMs: 0 };
      }),
    );
  let statements = await say(endpoints.slice(0, 2));
  let finding = weigh(statements, rule);
  if (finding.is !== 'agreed' && endpoints.length > 2) {
    statements = [...statements, ...(await say(endpoints.slice(2)))];
    finding = weigh(statements, rule);
  }
  if (finding.is === 'agreed') {
    const { dissenters } = finding;
    for (const { endpoint } of endpoints) if (dissenters.includes(endpoint.name)) endpoint.distrust();
  }
  if (finding.is === 'agreed' || finding.is === 'alone') return { is: 'agreed', value: finding.value };
  const said = statements.flatMap(({ by, answer }) => (answer === undefined ? [] : [{ by, answer }]));
  const answers = said.map(({ by, answer }) => `${by}: ${answer}`).join('; ');
  if (finding.is === 'disputed') return { is: 'disputed', answers };
  const [lone] = said;
  if (lone !== undefined) return { is: 'alone', value: lone.answer, answers };
  const [error] = errors;
  if (error === undefined) throw new RangeError('a network without endpoints');
  return { is: 'silence', error };
}
