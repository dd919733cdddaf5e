import artifact from '../../../contracts/artifacts/Lens.json' with { type: 'json' };
import { type Batcher, createBatcher } from '../../runtime/batcher.ts';
import type { World } from '../../runtime/world.ts';
import { isThrottling, type RpcCall, type WordQuestion } from './json-rpc.ts';
import type { Rpc } from './rpc.ts';
import { readData } from './rpc-values.ts';
import { address, uint } from './words.ts';

/**
 * Batches many small questions into one `eth_call`, which runs the creation code of a contract that is never deployed
 * (`contracts/Lens.sol`). Hundreds of questions cost the node one request, and the provider counts one call.
 *
 * The Lens is only an optimisation. A question without an answer from the Lens is asked again by a single call, and that answer
 * counts: a revert is an answer, a failure is not. A provider that refuses the Lens receives single calls.
 */
export interface Lens {
  ask<T>(call: RpcCall<T>, timeoutMs?: number): Promise<T>;
}

/**
 * The most questions of a call. A call of this size stays below three limits of nodes: its gas (10 million at the lowest; a
 * question needs about 20,000), its creation code (49,152 bytes), and the code that it returns (24,576 bytes; an answer has 33).
 */
const MAX_QUESTIONS = 250;
const MAX_QUESTION_BYTES = 40_000;
/** The least number to which a refusal reduces the questions of a call. If so few are refused, their number is not the reason. */
const MIN_QUESTIONS = 8;
/**
 * The number of refusals in a row after which the Lens is not used with a provider. The questions of a call are halved after each
 * refusal, and this number suffices to get from the largest to the smallest call.
 */
const MAX_REFUSALS = 6;
/** The time after which the Lens is tried again, because the refusals may have been temporary. */
const REFUSAL_HOLDS_MS = 600_000;
/** The most questions of one batch. They are split into several calls of one request. */
const MAX_GATHERED = 10_000;
const MAX_CONCURRENT = 16;
/** An answer is a flag of one byte and a word of 32 bytes, as hex digits. */
const ANSWER_DIGITS = 66;

const NOT_ANSWERED = Symbol('not answered');

type Question = WordQuestion<unknown>;

export function createLens({ world, rpc }: { readonly world: World; readonly rpc: Rpc }): Lens {
  const lanes = new Map<number | undefined, Batcher<Question, unknown>>();
  let maxQuestions = MAX_QUESTIONS;
  let refusals = 0;
  let refusedAtMs = 0;

  /**
   * The queue (lane) of questions with this timeout. Only questions with the same timeout share a call, so that a long timeout
   * never delays a short one.
   */
  function laneOf(timeoutMs: number | undefined): Batcher<Question, unknown> {
    let lane = lanes.get(timeoutMs);
    if (lane === undefined) {
      lane = createBatcher(world, {
        run: (questions) => askAll(questions, timeoutMs),
        maxItems: MAX_GATHERED,
        maxConcurrent: MAX_CONCURRENT,
        isItemsFault: () => false,
      });
      lanes.set(timeoutMs, lane);
    }
    return lane;
  }

  async function askAll(questions: readonly Question[], timeoutMs: number | undefined): Promise<readonly unknown[]> {
    const texts = questions.map(textOf);
    const answers = new Map<string, string>();
    // Concurrent requests ask many identical questions about a token. Identical questions are asked once.
    const chunks = isGivenUp() ? [] : chunksOf([...new Set(texts)], maxQuestions);
    await Promise.all(
      chunks.map(async (chunk) => {
        const found = await callLens(chunk, timeoutMs);
        for (const [index, answer] of found.entries()) answers.set(chunk[index] ?? '', answer);
      }),
    );
    return questions.map((question, index) => readAnswer(question, answers.get(texts[index] ?? '')));
  }

  /** One answer for each question. Empty when the Lens was refused, or would save nothing. */
  async function callLens(texts: readonly string[], timeoutMs: number | undefined): Promise<readonly string[]> {
    if (texts.length === 1) return [];
    const answers = await rpc.call(lensCall(texts), timeoutMs);
    if (answers === 'refused') {
      refusals += 1;
      refusedAtMs = world.clock.nowMs();
      maxQuestions = Math.max(MIN_QUESTIONS, Math.floor(texts.length / 2));
      return [];
    }
    refusals = 0;
    return answers;
  }

  function isGivenUp(): boolean {
    if (world.clock.nowMs() - refusedAtMs > REFUSAL_HOLDS_MS) {
      refusals = 0;
      maxQuestions = MAX_QUESTIONS;
    }
    return refusals >= MAX_REFUSALS;
  }

  return {
    ask: async <T>(call: RpcCall<T>, timeoutMs?: number) => {
      const answer = call.word === undefined ? NOT_ANSWERED : await laneOf(timeoutMs)(call.word);
      return answer === NOT_ANSWERED ? rpc.call(call, timeoutMs) : (answer as T);
    },
  };
}

function chunksOf(texts: readonly string[], maxQuestions: number): readonly (readonly string[])[] {
  const chunks: string[][] = [];
  let digits = 0;
  for (const text of texts) {
    const last = chunks.at(-1);
    digits += text.length;
    if (last !== undefined && last.length < maxQuestions && digits <= 2 * MAX_QUESTION_BYTES) last.push(text);
    else {
      chunks.push([text]);
      digits = text.length;
    }
  }
  return chunks;
}

/** The call of the Lens. Its refusal is a valid answer: each question is then asked by a single call. */
function lensCall(texts: readonly string[]): RpcCall<readonly string[] | 'refused'> {
  const text = texts.join('');
  // The ABI encoding of one `bytes` argument: offset, length, and the data padded to words.
  const padding = '0'.repeat((64 - (text.length % 64)) % 64);
  const data = `${artifact.bytecode}${uint(32)}${uint(text.length / 2)}${text}${padding}`;
  return {
    method: 'eth_call',
    params: [{ data }, 'latest'],
    read: (result) => {
      const answers = readData(result).slice(2);
      if (answers.length !== texts.length * ANSWER_DIGITS) return 'refused';
      return texts.map((_, index) => answers.slice(index * ANSWER_DIGITS, (index + 1) * ANSWER_DIGITS));
    },
    readError: (error) => (isThrottling(error) ? undefined : { value: 'refused' }),
  };
}

function readAnswer({ read }: Question, answer = '00'): unknown {
  if (answer.startsWith('00')) return NOT_ANSWERED;
  try {
    return read(answer.startsWith('01') ? `0x${answer.slice(2)}` : '0x');
  } catch {
    // The later single call shows whether the contract or the node is at fault.
    return NOT_ANSWERED;
  }
}

/** A question in the encoding of `contracts/Lens.sol`, in hex. */
function textOf({ of, ask }: Question): string {
  const target = address(of).slice(24);
  if (ask === 'code_size') return `${target}00`;
  if (ask === 'coin') return `${target}01`;
  return `${target}${((ask.length - 2) / 2).toString(16).padStart(2, '0')}${ask.slice(2)}`;
}
