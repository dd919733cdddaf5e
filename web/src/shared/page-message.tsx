interface MessageProps {
  /** The prefix of the page's class names: `link` or `slip`. */
  readonly page: string;
  readonly title: string;
  readonly text: string;
}

export function PageMessage({ page, title, text }: MessageProps) {
  return (
    <main className="sheet sheet-single">
      <section className="panel" aria-labelledby={`${page}-title`}>
        <div className={`step stack ${page}-message`}>
          <h1 className="title" id={`${page}-title`}>
            {title}
          </h1>
          <p className="text">{text}</p>
        </div>
      </section>
    </main>
  );
}
