import type { InjectOptions } from 'fastify';
import type { SimNode } from './node.ts';
import type { Participant } from './scheduler.ts';
import type { Seeded } from './seeded.ts';
import { type Stage, Violation } from './stage.ts';

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the body of any route
  readonly body: any;
  readonly headers: Readonly<Record<string, unknown>>;
}

export type Asking = InjectOptions & { readonly url: string };

/** The chance that a client loses its connection before the answer. */
const LOST = 0.05;
/** The chance that a request arrives after its client has given up, and so perhaps after a later request. */
const LATE = 0.04;
const LATE_MS = 20_000;

/** Sends a request to a node that runs. Undefined when no answer came: the client cannot know the outcome. */
export async function request(
  stage: Stage,
  by: Participant,
  random: Seeded,
  options: Asking,
): Promise<Answer | undefined> {
  const { scheduler } = stage;
  await scheduler.pass(by, `sends ${options.method ?? 'GET'} ${options.url}`);
  if (hasEffect(options) && random.chance(LATE)) {
    stage.act(scheduler.sleep(by, random.below(LATE_MS)).then(() => receive(stage, random, options)));
    return undefined;
  }
  const answer = await receive(stage, random, options);
  if (answer === undefined || random.chance(LOST)) return undefined;
  scheduler.note(`${by.name}: is answered ${answer.status} ${answer.body?.code ?? answer.body?.status ?? ''}`);
  return answer;
}

/** A node that runs receives the request. Undefined if it crashes before it answers. */
async function receive(stage: Stage, random: Seeded, options: Asking): Promise<Answer | undefined> {
  const running = stage.nodes.filter((node): node is SimNode => node?.isAlive === true && node.app !== undefined);
  if (running.length === 0) return undefined;
  const node = random.pick(running);
  const answer = await Promise.race([answerOf(stage, node, options), node.crashed.then(() => undefined)]);
  if (answer?.status === 500) {
    const [error = ''] = stage.errors.slice(-1);
    throw new Violation('no answer is an internal error', `${options.url} was answered 500: ${error}`);
  }
  return answer;
}

async function answerOf(stage: Stage, node: SimNode, options: Asking): Promise<Answer | undefined> {
  await stage.scheduler.pass(node, `receives ${options.method ?? 'GET'} ${options.url}`);
  const response = await node.app?.inject(options);
  if (response === undefined) return undefined;
  const { statusCode: status, headers } = response;
  const isJson = String(headers['content-type']).startsWith('application/json');
  return { status, body: isJson ? response.json() : undefined, headers };
}

/** True if the request changes something when it arrives. */
function hasEffect({ method, headers }: Asking): boolean {
  return method === 'POST' || headers?.['payment-signature'] !== undefined;
}
