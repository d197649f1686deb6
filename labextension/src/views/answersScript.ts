export { AnswersView as component } from "./answersView";
