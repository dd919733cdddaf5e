import artifact from '../../../contracts/artifacts/Lens.json' with { type: 'json' };
import { type Batcher, createBatcher } from '../../runtime/batcher.ts';
import type { World } from '../../runtime/world.ts';
import { isThrottling, type RpcCall, type WordQuestion } from './json-rpc.ts';
import type { Rpc } from './rpc.ts';
import { readData } from './rpc-values.ts';
import { address, uint } from './words.ts';

/**
 * Asks many small questions as one call, by way of a contract that is tried and never deployed (`contracts/Lens.sol`). A
 * node does the work of a request for hundreds of questions then, and a provider counts one call.
 *
 * It can only ever save something. What the Lens gave no answer to is asked by itself, and that answer counts: a revert is
 * one, a failure is none. A provider that takes no such calls is asked everything one by one.
 */
export interface Lens {
  ask<T>(call: RpcCall<T>, timeoutMs?: number): Promise<T>;
}

/**
 * All of them together stay below what nodes give a call (10 million gas with the stingy ones, of which a question takes
 * some 20,000), a contract's creation (49,152 bytes) and its code (24,576 bytes, at 33 for an answer).
 */
const MAX_QUESTIONS = 250;
const MAX_QUESTION_BYTES = 40_000;
/** Refused with so few at once, it is not the number. */
const MIN_QUESTIONS = 8;
/** As often in a row a provider refuses the Lens, from the most questions down to the least, before it is given up. */
const MAX_REFUSALS = 6;
/** It may have been a bad moment all the same. */
const REFUSAL_HOLDS_MS = 600_000;
/** Of one moment; they are cut into calls that travel in one request. */
const MAX_GATHERED = 10_000;
const MAX_CONCURRENT = 16;
/** A byte and a word. */
const ANSWER_DIGITS = 66;

const NOT_ANSWERED = Symbol('not answered');

type Question = WordQuestion<unknown>;

export function createLens({ world, rpc }: { readonly world: World; readonly rpc: Rpc }): Lens {
  const lanes = new Map<number | undefined, Batcher<Question, unknown>>();
  let maxQuestions = MAX_QUESTIONS;
  let refusals = 0;
  let refusedAtMs = 0;

  /** Questions that may take equally long go together, so that a patient one never makes a hasty one wait. */
  function laneOf(timeoutMs: number | undefined): Batcher<Question, unknown> {
    let lane = lanes.get(timeoutMs);
    if (lane === undefined) {
      lane = createBatcher(world.timers, {
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
    // Requests of the same moment want to know much the same of a token: that is asked once.
    const chunks = isGivenUp() ? [] : chunksOf([...new Set(texts)], maxQuestions);
    await Promise.all(
      chunks.map(async (chunk) => {
        const found = await look(chunk, timeoutMs);
        for (const [index, answer] of found.entries()) answers.set(chunk[index] ?? '', answer);
      }),
    );
    return questions.map((question, index) => readAnswer(question, answers.get(texts[index] ?? '')));
  }

  /** One answer for each; none at all when it was refused. */
  async function look(texts: readonly string[], timeoutMs: number | undefined): Promise<readonly string[]> {
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

/** Whatever is wrong with the Lens, the questions can still be asked one by one. */
function lensCall(texts: readonly string[]): RpcCall<readonly string[] | 'refused'> {
  const text = texts.join('');
  // One argument of bytes: where it begins, how long it is, and itself in whole words.
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
    // Whether the contract or the node is to blame is seen when the question is asked by itself.
    return NOT_ANSWERED;
  }
}

/** A question as `contracts/Lens.sol` reads it, in hex. */
function textOf({ of, ask }: Question): string {
  const target = address(of).slice(24);
  if (ask === 'code_size') return `${target}00`;
  if (ask === 'coin') return `${target}01`;
  return `${target}${((ask.length - 2) / 2).toString(16).padStart(2, '0')}${ask.slice(2)}`;
}
