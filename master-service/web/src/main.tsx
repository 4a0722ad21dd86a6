import { effect } from '@preact/signals';
import { render } from 'preact';
import { Page } from './page.tsx';
import { followAddress, loadStatus, title } from './page-state.ts';

const root = document.getElementById('page');
if (root) {
  root.replaceChildren();
  render(<Page />, root);
  effect(() => {
    document.title = title.value;
  });
  window.addEventListener('popstate', () => void followAddress());
  void loadStatus();
  void followAddress();
}
