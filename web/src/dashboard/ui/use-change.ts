import { useState } from 'react';
import { useWords } from '../words.ts';
import { problemText } from './problem-text.ts';
import { useWithPasskey } from './verify.tsx';

/** A change that a person has asked for: its state, and the problem in words. */
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
      // A person who has closed the question about the passkey needs no message.
      if (!(error instanceof Error && error.message === 'cancelled')) {
        setProblem(problemText(words, error));
      }
    } finally {
      setRunning(false);
    }
  };
  return { isRunning, problem, run };
}
