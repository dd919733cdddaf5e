import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { usePageState, useWords } from '../words.ts';
import { Notice } from './parts.tsx';

const CHECK_MS = 5 * 60_000;

/** The build that the gateway serves now, or null if the answer does not contain it. */
async function presentBuild(signal: AbortSignal): Promise<string | null> {
  const answer = await fetch('/dashboard', { method: 'HEAD', signal });
  return answer.ok ? answer.headers.get('till-build') : null;
}

/** Asks the person to reload the page after an upgrade of the gateway, which may no longer have the files of the open version. */
export function NewVersion() {
  const words = useWords();
  const { build } = usePageState();
  const [isMissing, setMissing] = useState(false);
  const { data } = useQuery({
    queryKey: ['build'],
    queryFn: ({ signal }) => presentBuild(signal),
    refetchInterval: CHECK_MS,
    refetchOnWindowFocus: true,
    staleTime: CHECK_MS / 10,
  });
  useEffect(() => {
    const onMissing = () => setMissing(true);
    addEventListener('vite:preloadError', onMissing);
    return () => removeEventListener('vite:preloadError', onMissing);
  }, []);
  if (!isMissing && (data == null || data === build)) return null;
  return (
    <Notice kind="warm">
      {words.newVersion}{' '}
      <button type="button" className="quiet small" onClick={() => location.reload()}>
        {words.loadAgain}
      </button>
    </Notice>
  );
}
