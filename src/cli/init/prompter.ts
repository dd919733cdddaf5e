import { type CANCEL_SYMBOL, confirm, isCancel, log, multiselect, password, select, text } from '@clack/prompts';
import type { Terminal } from '../terminal.ts';
import type { Asker } from './ask-all.ts';
import { NONE, type Question } from './question.ts';
import { listOf } from './questions.ts';

/** The person has pressed Ctrl-C, or the terminal was closed. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
}

export interface Prompter extends Asker {
  say(text: string): void;
  /** Asks a question with the answers yes and no. True for yes. */
  confirm(words: string): Promise<boolean>;
}

/**
 * A prompter that asks at a terminal until the signal aborts. A secret is never shown: neither as a suggestion nor, if the question
 * hides it, while it is typed.
 */
export function createPrompter(terminal: Terminal, signal: AbortSignal): Prompter {
  const place = { ...terminal, signal };
  const answered = async <T>(asking: Promise<T | typeof CANCEL_SYMBOL>): Promise<T> => {
    const answer = await asking;
    if (isCancel(answer)) throw new InterruptedError('The set-up was interrupted.');
    return answer;
  };
  return {
    async ask(question, suggestion) {
      if (signal.aborted) throw new InterruptedError('The set-up was interrupted.');
      const { how } = question;
      if (how.is === 'choice') {
        const options = [...how.options];
        const initialValue = suggestion ?? options[0]?.value ?? '';
        return orNone(await answered(select({ ...place, message: question.words, options, initialValue })));
      }
      if (how.is === 'several') {
        const options = [...how.options];
        const initialValues = listOf(suggestion);
        const message = `${question.words} (space marks one, Enter ends)`;
        return (await answered(multiselect({ ...place, message, options, initialValues, required: true }))).join(',');
      }
      const message = `${question.words} (${question.id})`;
      const hint = hintOf(question, suggestion);
      if (how.is === 'hidden') {
        return (await answered(password({ ...place, message: `${message} [${hint}]` }))) ?? '';
      }
      return (await answered(text({ ...place, message, placeholder: hint }))) ?? '';
    },
    refuse: (_, lines) => log.error(lines.join('\n'), terminal),
    take: (_, lines) => {
      if (lines.length > 0) log.info(lines.join('\n'), terminal);
    },
    say: (words) => log.message(words, terminal),
    confirm: (words) => answered(confirm({ ...place, message: words })),
  };
}

/** The answer for a choice from a list. An empty choice becomes `none`, because an empty answer would accept the suggestion. */
function orNone(choice: string): string {
  return choice === '' ? NONE : choice;
}

function hintOf({ isSecret, isOptional, fallback, fallbackWords }: Question, suggestion: string | undefined): string {
  const clear = isOptional && suggestion !== undefined && suggestion !== '' ? `; ${NONE} for none` : '';
  if (suggestion === undefined) return 'no default';
  if (suggestion === fallback && fallbackWords !== undefined) return `Enter: ${fallbackWords}${clear}`;
  if (suggestion === '') return 'Enter: none';
  return `Enter: ${isSecret ? 'the present one stays' : suggestion}${clear}`;
}
