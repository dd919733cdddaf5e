import { useWords } from '../words.ts';
import { Door } from './sign-in.tsx';

export function NotFound() {
  const words = useWords();
  return (
    <Door title={words.notFound}>
      <a className="button main wide" href="/dashboard">
        {words.dashboard}
      </a>
    </Door>
  );
}
