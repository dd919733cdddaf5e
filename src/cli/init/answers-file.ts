import { readFile } from 'node:fs/promises';
import type { Registry } from '../../chains/registry.ts';
import { nearest } from '../../domain/nearest.ts';
import { ApiError } from '../../errors.ts';
import { Problem, quote } from '../../settings/kinds.ts';
import { rpcUrls } from '../../settings/network-kinds.ts';
import { isSetting, NONE } from './question.ts';
import { type Answers, allQuestionIds, endpointsOf, type Known, NETWORKS, RPC } from './questions.ts';

const UNCHANGED = 'Nothing was changed.';

/** Reads an answers file: answers by the ids of their questions. It may also contain settings that no question asks for. */
export async function readAnswersFile(path: string): Promise<Record<string, unknown>> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw refusal(`The answers file ${path} cannot be read (${error.code}): name a file by --answers. ${UNCHANGED}`);
  });
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    // The parser's message quotes the file, which may contain secrets. Only the position is taken from the message.
    const [, position = text.trimEnd().length] = /position (\d+)/.exec((error as Error).message) ?? [];
    const line = text.slice(0, Number(position)).split('\n').length;
    throw refusal(
      `The answers file ${path} is no whole JSON (line ${line}): was it cut off? Write it again. ${UNCHANGED}`,
    );
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw refusal(
      `The answers file ${path} must be one JSON object, such as {"PUBLIC_URL": "https://till.example.com"}. ${UNCHANGED}`,
    );
  }
  return parsed as Record<string, unknown>;
}

/** Converts the answers of a file into the form in which a person types them. Refuses unknown names, because they are mistakes. */
export function readAnswers(file: Readonly<Record<string, unknown>>, known: Known): Answers {
  const answers: Record<string, string> = {};
  const take = (id: string, value: unknown) => {
    answers[id] = textOf(id, value);
  };
  for (const [name, value] of Object.entries(file)) {
    if (name === RPC && typeof value === 'string') Object.assign(answers, endpointsIn(value, known.registry));
    else if (isGroup(value)) for (const [inner, each] of Object.entries(value)) take(`${name} ${inner}`, each);
    else take(name, value);
  }
  refuseUnknown(Object.keys(answers), known);
  const chainIds = Object.keys(answers).flatMap((id) => (id.startsWith(`${RPC} `) ? [id.slice(RPC.length + 1)] : []));
  return chainIds.length > 0 && answers[NETWORKS] === undefined
    ? { ...answers, [NETWORKS]: chainIds.join(',') }
    : answers;
}

/** The endpoints of each network, from a value of RPC_URLS. Empty if the value is invalid. */
export function endpointsIn(value: string, registry: Registry | null): Answers {
  const read = registry === null ? undefined : rpcUrls().parse(value, registry);
  if (read === undefined || read instanceof Problem) return {};
  return Object.fromEntries([...read].map(([chainId, urls]) => [endpointsOf(chainId), urls.join(',')]));
}

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text of an answer that is given as JSON. Null becomes `none`, which leaves a setting unset. */
function textOf(id: string, value: unknown): string {
  if (value === null) return NONE;
  const parts = Array.isArray(value) ? value : [value];
  if (parts.every((part) => typeof part === 'string' || Number.isInteger(part))) return parts.join(',');
  throw refusal(`The answer to ${quote(id)} must be a text, a whole number, a list of texts, or null. ${UNCHANGED}`);
}

function refuseUnknown(ids: readonly string[], known: Known): void {
  const questions = allQuestionIds(known);
  const isKnown = (id: string) => questions.includes(id) || isSetting(id) || id.startsWith(`${RPC} `);
  const unknown = ids.find((id) => !isKnown(id));
  if (unknown === undefined) return;
  const meant = nearest(unknown, questions);
  const hint = meant === undefined ? '' : ` Did you mean ${quote(meant)}?`;
  throw refusal(`No question is named ${quote(unknown)}.${hint} ${UNCHANGED}`);
}

export function refusal(message: string): ApiError {
  return new ApiError('invalid_params', message);
}
