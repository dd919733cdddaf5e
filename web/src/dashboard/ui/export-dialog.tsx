import { useEffect, useRef, useState } from 'react';
import { numberFormat } from '../../shared/money.ts';
import { fill } from '../../shared/text.ts';
import { saveFile } from '../export-file.ts';
import { type ExportChoice, exportPath, type Filters } from '../filters.ts';
import type { Strings } from '../strings/en.ts';
import { usePageState, useWords } from '../words.ts';
import { Dialog, FormEnd } from './parts.tsx';
import { problemText } from './problem-text.ts';

const CONTENTS = [
  ['payments', 'exportPayments', 'exportPaymentsText'],
  ['bookkeeping', 'exportBookkeeping', 'exportBookkeepingText'],
] as const satisfies readonly (readonly [ExportChoice['content'], keyof Strings, keyof Strings])[];

const FORMATS = [
  ['csv', 'CSV'],
  ['jsonl', 'JSON Lines'],
] as const satisfies readonly (readonly [ExportChoice['format'], string])[];

interface ExportProps {
  readonly filters: Filters;
  readonly total: number | undefined;
  readonly onClose: () => void;
}

/** Exports the payments that match the present filters to a file, and shows the progress. */
export function ExportDialog({ filters, total, onClose }: ExportProps) {
  const words = useWords();
  const numbers = numberFormat(usePageState().locale, {});
  const [choice, setChoice] = useState<ExportChoice>({ content: 'payments', format: 'csv' });
  const [lines, setLines] = useState<number>();
  const [problem, setProblem] = useState<string>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const isRunning = lines !== undefined;
  const expected = choice.content === 'payments' ? total : undefined;
  const run = async () => {
    const stop = new AbortController();
    running.current = stop;
    setProblem(undefined);
    setLines(0);
    try {
      await saveFile({
        path: exportPath(filters, choice),
        name: `${choice.content}-${new Date().toISOString().slice(0, 10)}.${choice.format}`,
        payments: total ?? 0,
        signal: stop.signal,
        onLines: setLines,
      });
      onClose();
    } catch (error) {
      const isStopped = stop.signal.aborted || (error instanceof DOMException && error.name === 'AbortError');
      if (!isStopped) setProblem(problemText(words, error));
      setLines(undefined);
    }
  };
  return (
    <Dialog title={words.exportTitle} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <p className="soft">
          {total === undefined ? words.exportText : fill(words.exportCount, { count: numbers.format(total) })}
        </p>
        <fieldset className="choices" disabled={isRunning}>
          <legend className="unseen">{words.exportContent}</legend>
          {CONTENTS.map(([content, name, text]) => (
            <label key={content}>
              <input
                type="radio"
                name="content"
                checked={choice.content === content}
                onChange={() => setChoice({ ...choice, content })}
              />
              <span>
                {words[name]}
                <span className="soft small">{words[text]}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <fieldset className="segments" disabled={isRunning}>
          <legend className="unseen">{words.exportFormat}</legend>
          {FORMATS.map(([format, name]) => (
            <label key={format}>
              <input
                type="radio"
                name="format"
                checked={choice.format === format}
                onChange={() => setChoice({ ...choice, format })}
              />
              <span>{name}</span>
            </label>
          ))}
        </fieldset>
        {isRunning && (
          <div className="progress" role="status">
            <progress
              aria-label={words.exportTitle}
              {...(expected !== undefined && { max: Math.max(expected, 1), value: Math.min(lines, expected) })}
            />
            <span className="soft small">{fill(words.exportRows, { count: numbers.format(lines) })}</span>
          </div>
        )}
        <FormEnd label={words.export} isRunning={isRunning} problem={problem} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
