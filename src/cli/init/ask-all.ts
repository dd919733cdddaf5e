import { createLocalSigner } from '../../chains/evm/local-signer.ts';
import type { Registry } from '../../chains/registry.ts';
import type { Finding } from '../../domain/doctor/diagnosis.ts';
import type { World } from '../../runtime/world.ts';
import { SETTINGS } from '../../settings/config.ts';
import { Problem } from '../../settings/kinds.ts';
import { readConfig } from '../../settings/read-config.ts';
import type { Setting } from '../../settings/setting.ts';
import type { Context } from '../connect.ts';
import { refusal } from './answers-file.ts';
import type { Seen } from './check.ts';
import { checkAnswer } from './checks.ts';
import { byKind, isSetting, MAKE, NONE, type Question } from './question.ts';
import { type Answers, allQuestionIds, type Known, questionsFor } from './questions.ts';

/** The source of the answers: a person at a terminal, or a script that accepts every suggestion. */
export interface Asker {
  /** Asks a question and returns the typed answer. An empty answer accepts the suggestion. */
  ask(question: Question, suggestion: string | undefined): Promise<string>;
  /** Shows why an answer cannot be used. The question is then asked again, unless this function throws. */
  refuse(question: Question, lines: readonly string[]): void;
  /** Shows the facts and findings about an accepted answer. */
  take(question: Question, lines: readonly string[]): void;
}

export interface AskInput {
  readonly asker: Asker;
  /** The suggested answers, by question. They depend on the networks that can be chosen. */
  readonly suggestions: (known: Known) => Answers;
  /** Values of settings that no question asks for. */
  readonly unasked: (known: Known) => Answers;
  /**
   * Stores all answers so far. It is called before an address or a finding of the last answer is shown: an operator may use a
   * shown address, so its key must already be stored.
   */
  readonly keep: (answers: Answers) => Promise<void>;
}

export interface Asked {
  readonly answers: Answers;
  readonly registry: Registry;
  /** The findings of the checks. None of them prevents the set-up. */
  readonly findings: readonly Finding[];
}

const NETWORKS_DIR = 'NETWORKS_DIR';
const SECRET_BYTES = 32;
/** The most attempts to answer one question: no person mistypes so often. A script ends at the first refused answer. */
const MAX_TRIES = 100;

/** Asks the questions one by one, and checks each answer at once. Earlier answers decide which questions are asked. */
export async function askAll(context: Context, { asker, suggestions, unasked, keep }: AskInput): Promise<Asked> {
  let answers: Answers = {};
  let registry: Registry | null = null;
  let seen: Seen = {};
  const findings: Finding[] = [];
  for (;;) {
    const known: Known = { registry, seenProxy: proxyIn(seen) };
    const question = questionsFor(answers, known).find(({ id }) => !(id in answers));
    if (question === undefined) break;
    const suggestion = suggestionFor(question, suggestions(known)[question.id]);
    const taken = await askOne({ context, asker, seen, registry }, { question, suggestion, answers });
    if (registry === null) answers = unaskedOf(unasked, taken.registry);
    answers = { ...answers, [question.id]: taken.answer };
    registry = taken.registry;
    seen = { ...seen, ...taken.checked.seen };
    findings.push(...taken.checked.findings);
    await keep(answers);
    asker.take(question, [...taken.checked.said, ...taken.checked.findings.map(lineOf)]);
  }
  if (registry === null) throw new Error('The folder of networks was never asked for.');
  return { answers, registry, findings };
}

/**
 * The suggestion for a question, or else its default. An empty suggestion means "unset", so it is ignored if the question must be
 * answered.
 */
function suggestionFor({ isOptional, fallback }: Question, suggested: string | undefined): string | undefined {
  return suggested === undefined || (suggested === '' && !isOptional) ? fallback : suggested;
}

/** The settings that no question asks for. They keep their values from the settings file, or get the values of the answers file. */
function unaskedOf(unasked: AskInput['unasked'], registry: Registry): Answers {
  const known: Known = { registry, seenProxy: undefined };
  const questions = allQuestionIds(known);
  const others = Object.entries(unasked(known)).filter(([id]) => isSetting(id) && !questions.includes(id));
  for (const [id, value] of others) {
    const setting = (Object.values(SETTINGS) as Setting<unknown>[]).find(({ env }) => env === id);
    const read =
      value === '' || value === NONE || setting === undefined ? value : byKind(setting.kind)(value, registry);
    if (read instanceof Problem) throw refusal(`${id} ${read.text}. Nothing was changed.`);
  }
  return Object.fromEntries(others.map(([id, value]) => [id, value === NONE ? '' : value]));
}

interface Asking {
  readonly context: Context;
  readonly asker: Asker;
  readonly seen: Seen;
  readonly registry: Registry | null;
}

interface Open {
  readonly question: Question;
  readonly suggestion: string | undefined;
  readonly answers: Answers;
}

async function askOne(asking: Asking, open: Open) {
  const { asker, context } = asking;
  const { question, suggestion, answers } = open;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const typed = (await asker.ask(question, suggestion)).trim();
    const raw = typed === '' ? suggestion : typed;
    const registryOf = question.id === NETWORKS_DIR ? registryIn(raw ?? '') : { registry: asking.registry };
    if ('problems' in registryOf) {
      asker.refuse(question, [...registryOf.problems]);
      continue;
    }
    const registry = registryOf.registry;
    if (registry === null) throw new Error(`${question.id} is asked before the networks are known.`);
    const read = readOne(question, raw, registry);
    if (read instanceof Problem) {
      asker.refuse(question, [`${question.id} ${read.text}.`]);
      continue;
    }
    // For a new master secret, the check gets the word `make` instead of a value: it refuses every new secret if the database
    // already belongs to another one. The secret is created after the check.
    const made = question.check === 'secret' ? read : makeIfAsked(context.world, question, read);
    const input = { context, question, registry, seen: asking.seen, answers: { ...answers, [question.id]: made } };
    const checked = await checkAnswer(input);
    if (checked.isRefused) {
      asker.refuse(question, checked.findings.filter(isFaultOrFirst).map(lineOf));
      continue;
    }
    return { answer: makeIfAsked(context.world, question, made), checked, registry };
  }
  throw new Error(`${question.id} was refused ${MAX_TRIES} times.`);
}

function readOne(question: Question, raw: string | undefined, registry: Registry): string | Problem {
  if (raw === undefined || raw === '' || raw === NONE) {
    if (question.isOptional) return '';
    return new Problem('has no answer, and there is no default: give one');
  }
  return question.read(raw, registry);
}

function isFaultOrFirst(finding: Finding, index: number, all: readonly Finding[]): boolean {
  return all.some(({ level }) => level === 'fault') ? finding.level === 'fault' : index === 0;
}

function registryIn(folder: string): { readonly registry: Registry } | { readonly problems: readonly string[] } {
  const read = readConfig({ [NETWORKS_DIR]: folder === NONE ? '' : folder });
  return 'config' in read ? { registry: read.config.registry } : read;
}

function proxyIn({ publicUrl }: Seen): string | undefined {
  return publicUrl?.is === 'here' && publicUrl.hasForwardedFor ? publicUrl.peer : undefined;
}

function makeIfAsked({ random }: World, { id }: Question, answer: string): string {
  if (answer !== MAKE) return answer;
  return id === 'TILL_SECRET' ? Buffer.from(random.bytes(SECRET_BYTES)).toString('base64') : newKey(random);
}

/** A random private key. The loop is for the very few 32-byte values that are not valid keys. */
function newKey(random: World['random']): string {
  for (;;) {
    const key = `0x${Buffer.from(random.bytes(SECRET_BYTES)).toString('hex')}`;
    try {
      createLocalSigner(key);
      return key;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  }
}

export function lineOf({ message, remedy }: Finding): string {
  return `${message} ${remedy}`;
}
