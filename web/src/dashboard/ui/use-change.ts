import { useState } from 'react';
import { useWords } from '../words.ts';
import { problemText } from './problem-text.ts';
import { useWithPasskey } from './verify.tsx';

/** Returns `run`, which carries out a change that the person asked for, with its state: whether it runs, and the text of its problem. */
export function useChange() {
  const words = useWords();
  const withPasskey = useWithPasskey();
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<string>();
  const run = async (work: () => Promise<void>) => {
    setRunning(true);
    setProblem(undefined);
    try {
      await withPasskey(work);
    } catch (error) {
      // No message if the person closed the passkey dialog.
      if (!(error instanceof Error && error.message === 'cancelled')) {
        setProblem(problemText(words, error));
      }
    } finally {
      setRunning(false);
    }
  };
  return { isRunning, problem, run };
}
