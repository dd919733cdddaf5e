import { useEffect, useState } from 'react';
import { type Flow, isRare } from '../flow-state.ts';
import type { RareSteps } from './actions.ts';

const RETRY_MS = 3_000;

/** Loads the views of rare steps when one is needed, and retries after a failure. */
export function useRareSteps({ step }: Flow): RareSteps | null {
  const [views, setViews] = useState<RareSteps | null>(null);
  const [failures, setFailures] = useState(0);
  const isNeeded = views === null && isRare(step);
  useEffect(() => {
    if (!isNeeded) return;
    let retry: ReturnType<typeof setTimeout> | undefined;
    import('./rare-steps.tsx').then(setViews, () => {
      retry = setTimeout(() => setFailures(failures + 1), RETRY_MS);
    });
    return () => clearTimeout(retry);
  }, [isNeeded, failures]);
  return views;
}
