import type { ReactNode } from 'react';

export function Message({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <main className="message">
      <div className="message-card">
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}
